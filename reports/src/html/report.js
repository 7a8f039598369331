// Moves diagrams, picks out events, and copies. What is drawn is in the page already: nothing is laid out here.
'use strict';
(() => {
  document.documentElement.classList.add('js');

  const figureOf = node => node.closest('.run');

  class Diagram {
    constructor(run) {
      this.run = run;
      this.box = run.querySelector('.box');
      this.drawings = [...run.querySelectorAll('.d')];
      this.steps = [...run.querySelectorAll('.s')];
      this.lines = [...run.querySelectorAll('.events li')];
      this.arrows = [...run.querySelectorAll('.m')];
      this.links = this.steps.filter(step => step.classList.contains('k')).map(step => this.steps.indexOf(step));
      this.width = Number(this.drawings[0].getAttribute('width'));
      this.size = 1;
      this.now = -1;
      // Words are legible down to this size; where it shows but half of the hosts, all of them without words say more.
      const legible = 0.72;
      if (this.width > this.box.clientWidth) this.fit(this.box.clientWidth < this.width * legible / 1.5 ? 0.3 : legible);
    }

    resize(size) {
      this.size = Math.min(3, Math.max(0.3, size));
      for (const drawing of this.drawings) {
        drawing.style.width = `${this.width * this.size}px`;
        drawing.style.height = 'auto';
        drawing.style.setProperty('--size', this.size);
      }
      this.box.parentElement.classList.toggle('tiny', this.size < 0.55);
    }

    fit(least) {
      this.resize(Math.min(1, Math.max(least, (this.box.clientWidth - 2) / this.width)));
    }

    // The step itself, what it came from, and its messages.
    pick(nth, show = true) {
      this.now = nth;
      this.run.classList.toggle('has-on', nth >= 0);
      const via = new Set();
      for (let at = nth; at >= 0 && !via.has(at); at = this.cause(at)) via.add(at);
      this.steps.forEach((step, at) => {
        step.classList.toggle('on', at === nth);
        step.classList.toggle('via', via.has(at));
      });
      this.lines.forEach((line, at) => line.classList.toggle('on', at === nth));
      this.arrows.forEach(arrow => arrow.classList.toggle('on', Number(arrow.dataset.s) === nth));
      this.run.querySelector('.now').textContent = nth < 0 ? '' : this.lines[nth].textContent;
      if (show && nth >= 0) this.reveal(this.steps[nth]);
    }

    cause(nth) {
      const cause = this.steps[nth].dataset.c;
      return cause === undefined ? -1 : Number(cause);
    }

    // Brings a step into view within the box; the page stays where it is.
    reveal(step) {
      const [box, seen] = [this.box.getBoundingClientRect(), step.getBoundingClientRect()];
      const over = (low, high, from, to, margin) =>
        low < from + margin ? low - from - margin : Math.max(0, high - to + margin);
      this.box.scrollTop += over(seen.top, seen.bottom, box.top, box.bottom, 60);
      this.box.scrollLeft += over(seen.left, seen.right, box.left, box.right, 20);
    }

    move(by) {
      this.pick(Math.min(this.steps.length - 1, Math.max(0, this.now + by)));
    }

    // To the next link of the chain of causes, or the one before.
    follow(by) {
      const next = by > 0
        ? this.links.find(at => at > this.now)
        : this.now < 0 ? this.links.at(-1) : this.links.findLast(at => at < this.now);
      if (next !== undefined) this.pick(next);
    }

    zoom(by) {
      if (by === 0) this.fit(0.3); else this.resize(this.size * 1.25 ** by);
    }

    key(key) {
      switch (key) {
        case 'ArrowDown': return this.move(1);
        case 'ArrowUp': return this.move(-1);
        case 'ArrowRight': return this.follow(1);
        case 'ArrowLeft': return this.follow(-1);
        case 'Home': return this.pick(0);
        case 'End': return this.pick(this.steps.length - 1);
        case '+': case '=': return this.zoom(1);
        case '-': return this.zoom(-1);
        case '0': return this.zoom(0);
        case 'Escape': return this.pick(-1);
        default: return false;
      }
    }
  }

  const diagrams = new WeakMap();
  const diagramOf = node => {
    const run = figureOf(node);
    if (!run) return undefined;
    if (!diagrams.has(run)) diagrams.set(run, new Diagram(run));
    return diagrams.get(run);
  };

  // A part of a large page is packed until it is asked for.
  const unpack = async part => {
    const packed = document.getElementById(`pack${part.dataset.pack}`);
    if (!packed) return;
    const bytes = Uint8Array.from(atob(packed.textContent), letter => letter.charCodeAt(0));
    const text = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    const parts = document.querySelectorAll(`[data-pack="${part.dataset.pack}"]`);
    (await new Response(text).text()).split('\x01').forEach((inner, nth) => {
      parts[nth].innerHTML = inner;
      parts[nth].setAttribute('aria-labelledby', `${parts[nth].id}h`);
    });
    packed.remove();
  };

  // A diagram that is not shown has no width, so each is made ready when its part is.
  const prepare = async () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const part = target ? target.closest('.part') : document;
    if (part && part !== document) await unpack(part);
    for (const run of (part || document).querySelectorAll('.run')) {
      if (run.clientWidth > 0) diagramOf(run);
    }
    if (target && target.classList.contains('part')) {
      target.querySelector('h2').focus({ preventScroll: true });
      scrollTo(0, 0);
    }
  };
  addEventListener('hashchange', prepare);
  prepare();

  const copy = async button => {
    const code = button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = 'Selected';
    }
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  };

  document.addEventListener('click', event => {
    const button = event.target.closest('button');
    if (button && 'copy' in button.dataset) return void copy(button);
    const diagram = diagramOf(event.target);
    if (!diagram) return;
    if (button && button.dataset.zoom) diagram.zoom(Number(button.dataset.zoom));
    else if (button && button.dataset.link) diagram.follow(Number(button.dataset.link));
    else {
      const step = event.target.closest('[data-i]');
      if (step) diagram.pick(Number(step.dataset.i));
    }
  });

  document.addEventListener('keydown', event => {
    if (!event.target.matches('.box') || event.ctrlKey || event.metaKey || event.altKey) return;
    if (diagramOf(event.target).key(event.key) !== false) event.preventDefault();
  });

  document.addEventListener('pointerover', event => {
    const step = event.target.closest('.s');
    const diagram = step && diagramOf(step);
    if (diagram && diagram.now < 0) {
      diagram.run.querySelector('.now').textContent = diagram.lines[Number(step.dataset.i)].textContent;
    }
  });

  // Drag to move, Ctrl and the wheel to zoom.
  document.addEventListener('pointerdown', event => {
    const box = event.target.closest('.box');
    if (!box || event.pointerType !== 'mouse' || event.button !== 0) return;
    const from = { x: event.clientX + box.scrollLeft, y: event.clientY + box.scrollTop };
    const drag = move => {
      box.scrollLeft = from.x - move.clientX;
      box.scrollTop = from.y - move.clientY;
    };
    addEventListener('pointermove', drag);
    addEventListener('pointerup', () => removeEventListener('pointermove', drag), { once: true });
  });
  document.addEventListener('wheel', event => {
    const box = event.ctrlKey && event.target.closest('.box');
    if (!box) return;
    event.preventDefault();
    diagramOf(box).zoom(event.deltaY < 0 ? 1 : -1);
  }, { passive: false });
})();
