const chips = [...document.querySelectorAll(".chip")];
const show = (chosen) => chips.forEach((chip) => {
  chip.setAttribute("aria-pressed", chip === chosen);
  document.getElementById(chip.dataset.panel).hidden = chip !== chosen;
});
chips.forEach((chip) => chip.addEventListener("click", () => show(chip)));
if (chips.length > 0) show(chips[0]);
