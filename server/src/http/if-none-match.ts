/** Whether `If-None-Match` names the state; the comparison ignores that an intermediary made the tag weak. */
export function namesState(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  const listed = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return listed.includes('*') || listed.includes(etag)
}
