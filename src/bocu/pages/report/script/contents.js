// Run where it stands, before the first paint: on a phone the contents would fill the screen.
if (matchMedia("(max-width: 56rem)").matches) document.getElementById("contents-list").open = false;
