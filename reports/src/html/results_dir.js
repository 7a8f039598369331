// Reads the page again every few seconds, while somebody looks at it and has not stopped it. The address keeps that over a reading.
'use strict';
(() => {
  const again = document.getElementById('again');
  again.checked = location.hash !== '#still';
  again.addEventListener('change', () => location.replace(again.checked ? '#' : '#still'));
  setInterval(() => {
    if (again.checked && !document.hidden) location.reload();
  }, 1000 * again.dataset.seconds);
})();
