/**
 * Every value in a `Cookie` header under this name. A browser may send several: of other paths, or of other programs on the host. Only
 * spaces and tabs stand around a name: to a browser, a name after any other blank has no prefix `__Host-`, and other hosts may set it.
 */
export function cookiesOf(header: string | undefined, name: string): string[] {
  return (header ?? '')
    .split(';')
    .map(withoutBlanks)
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
}

function withoutBlanks(pair: string): string {
  let [start, end] = [0, pair.length]
  while (isBlank(pair[start])) start += 1
  while (end > start && isBlank(pair[end - 1])) end -= 1
  return pair.slice(start, end)
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t'
}
