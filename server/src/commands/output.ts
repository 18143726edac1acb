/** The output of a command: `text` for people, `data` for scripts. */
export type Output = { text: string; data: unknown }

/** Follows a secret that is stored nowhere. */
export const once = '\n\nThis is shown only once.'

/** Rows with aligned columns. */
export function columns(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
