// What a user sees of a document and can act on, in its order; `elements` are the controls by their numbers.
() => {
  const MOST = 500, LONGEST = 20000;
  const elements = [], forms = [], owned = new Map(), loose = [];
  const words = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const visible = (element, options) =>
    element.checkVisibility(options) && [...element.getClientRects()].some((box) => box.width > 1 && box.height > 1);
  const seen = (element) => visible(element, { visibilityProperty: true, opacityProperty: true });
  const box = (element) => element.checkVisibility({ visibilityProperty: true })
    || [...(element.labels || [])].some(seen);
  const everything = function* (root) {
    for (const element of root.querySelectorAll('*')) {
      yield element;
      if (element.shadowRoot) yield* everything(element.shadowRoot);
    }
  };
  const labelled = (element) => words([
    ...[...(element.labels || [])].map((label) => label.innerText),
    element.placeholder,
    element.getAttribute('aria-label'),
    ...(element.getAttribute('aria-labelledby') || '').split(/\s+/).filter(Boolean)
      .map((id) => element.getRootNode().getElementById?.(id)?.innerText || ''),
  ].join(' '));
  const isButton = (element) => element.localName === 'button'
    || (element.localName === 'input' && ['submit', 'image', 'button'].includes(element.type))
    || element.getAttribute('role') === 'button';
  const button = (element) => ({
    is: 'button',
    // Only a button of a form submits by itself; what another one does, scripts know.
    kind: element.form && ['submit', 'image'].includes(element.type) ? element.type : 'button',
    name: element.name || '', id: element.id, value: element.value || '',
    text: words(element.localName === 'input' ? element.value || element.alt : element.innerText)
      || words(element.getAttribute('aria-label') || element.title),
  });
  const field = (element) => ({
    is: 'field',
    kind: { textarea: 'textarea', select: 'select' }[element.localName] || element.type,
    name: element.name, id: element.id, value: element.value, on: element.checked ?? true,
    required: element.required, readonly: element.readOnly ?? false,
    autocomplete: (element.autocomplete || '').toLowerCase(), label: labelled(element),
    options: [...(element.options || [])].filter((option) => !option.disabled).map((option) => option.value),
    chosen: [...(element.selectedOptions || [])].map((option) => option.value),
  });
  const control = (element) => {
    if (isButton(element)) return seen(element) ? button(element) : null;
    if (!['input', 'select', 'textarea'].includes(element.localName)) return null;
    if (element.matches(':disabled') || ['hidden', 'reset', 'file'].includes(element.type)) return null;
    return (['checkbox', 'radio'].includes(element.type) ? box(element) : seen(element)) ? field(element) : null;
  };
  for (const element of everything(document)) {
    if (element.localName === 'form') {
      const form = {
        action: element.getAttribute('action') || '', method: element.getAttribute('method') || '',
        id: element.getAttribute('id') || '', controls: [], number: elements.push(element) - 1,
      };
      owned.set(element, form);
      forms.push(form);
      continue;
    }
    const found = elements.length < MOST ? control(element) : null;
    if (!found) continue;
    found.number = elements.push(element) - 1;
    const form = owned.get(element.form || element.closest('form'));
    (form ? form.controls : loose).push(found);
  }
  // Pages made by scripts often have controls and no form around them.
  if (loose.length) forms.push({ action: '', method: '', id: '', controls: loose, number: null });
  return {
    elements,
    page: {
      url: location.href, number: performance.getEntriesByType('navigation')[0]?.serverTiming
        ?.find((timing) => timing.name === 'gateproof')?.description ?? null,
      title: document.title, ready: document.readyState,
      text: words((document.body?.innerText || '').slice(0, LONGEST)),
      lives: document.scripts.length > 0 || !!document.querySelector('meta[http-equiv=refresh i], iframe, frame'),
      forms: forms.filter((form) => form.controls.length),
    },
  };
}
