/** Where to sign out of the identity provider; undefined where it is nowhere to send a person to. */
export function readLogoutUrl(url: string | null): string | undefined {
  const read = url === null ? null : URL.parse(url)
  return read?.protocol === 'https:' ? read.href : undefined
}
