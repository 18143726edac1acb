/** HTML that only `html` creates, so that nothing in it is unescaped. */
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
 * HTML in which every text is escaped. A value after `href="` must be an http or https URL.
 * @throws if it is not, so that a link cannot be a script
 */
export function html(strings: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  const parts = values.map((value, index) => {
    if (strings[index]?.endsWith('href="') && !/^https?:\/\//i.test(String(value))) {
      throw new Error('a link must be an http or https URL')
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
