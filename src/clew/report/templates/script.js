for (const box of document.querySelectorAll("input[data-filter]")) {
  const rows = document.querySelectorAll("#" + box.dataset.filter + " tbody tr");
  box.hidden = false;
  box.addEventListener("input", () => {
    const wanted = box.value.toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
}
