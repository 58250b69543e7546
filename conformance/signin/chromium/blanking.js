// Takes everything off a page that may not be in a picture of it, and hands over its text, piece by piece.
() => {
  const texts = [];
  const bare = document.createElement('style');
  bare.textContent = '*, *::before, *::after { background-image: none !important; animation: none !important;'
    + ' transition: none !important; } *::before, *::after { content: none !important; }'
    + ' img, picture, canvas, video, audio, svg, iframe, frame, object, embed { visibility: hidden !important; }';
  const strip = (root) => {
    (root.head || root).append(bare.cloneNode(true));
    for (const element of root.querySelectorAll('*')) {
      for (const name of ['placeholder', 'alt', 'title', 'label']) element.removeAttribute(name);
      if (['input', 'textarea'].includes(element.localName)) {
        if (['submit', 'button', 'reset'].includes(element.type)) texts.push([element, 'value']);
        else if (!['checkbox', 'radio'].includes(element.type)) element.value = '';
      } else if (element.localName === 'select') {
        element.replaceChildren();
      }
      if (element.shadowRoot) strip(element.shadowRoot);
    }
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const owner = walk.currentNode.parentElement?.localName;
      if (walk.currentNode.data.trim() && owner !== 'style' && owner !== 'script') texts.push([walk.currentNode, 'data']);
    }
  };
  strip(document);
  window.stop();
  return { texts, said: texts.map(([node, name]) => node[name]) };
}
