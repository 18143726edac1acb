export const formType = 'application/x-www-form-urlencoded'

/** These fields as a form; values that are no text become JSON. */
export function formOf(fields: object): string {
  const pairs = Object.entries(fields).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return new URLSearchParams(pairs).toString()
}
