/** An option of a command. @throws Error that says what is wrong with it */
export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`\`${text}\` is not a whole number`)
  return Number(text)
}
