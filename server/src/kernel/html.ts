/** HTML that was made by `html` alone, so that nothing unescaped can be in it. */
class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
export type Html = Markup

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/**
 * HTML, every text in it escaped. A value after `href="` must be an address on the web.
 * @throws where it is another: no script can be a link
 */
export function html(strings: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  const parts = values.map((value, index) => {
    if (strings[index]?.endsWith('href="') && !/^https?:\/\//i.test(String(value))) {
      throw new Error('only an address on the web may be a link')
    }
    return `${textOf(value)}${strings[index + 1]}`
  })
  return new Markup([strings[0], ...parts].join(''))
}

function textOf(value: string | Html | readonly Html[]): string {
  if (value instanceof Markup) return value.text
  return typeof value === 'string'
    ? value.replace(/[&<>"']/g, (mark) => entities[mark] ?? '')
    : value.map(textOf).join('')
}
