/** Every value in a `Cookie` header under this name. A browser may send several: of other paths, or of other programs on the host. */
export function cookiesOf(header: string | undefined, name: string): string[] {
  return (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
}
