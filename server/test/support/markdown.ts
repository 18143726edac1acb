/** The text of a page that shows one table of the source. */
export type Page = { title: string; from: string; about: string; body: string }

/** Text of a program, in backticks. */
export function code(text: string): string {
  return `\`${text}\``
}

/** A Markdown table as the formatter leaves it. */
export function table(head: string[], rows: string[][]): string {
  const lines = [head, ...rows].map((cells) => cells.map((cell) => cell.replaceAll('|', '\\|')))
  const widths = head.map((_, column) => Math.max(3, ...lines.map((cells) => cells[column]?.length ?? 0)))
  const line = (cells: string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`
  const [first = [], ...rest] = lines
  return [line(first), line(widths.map((width) => '-'.repeat(width))), ...rest.map(line)].join('\n')
}
