/** The page of an event's subject, to which the link in a mail leads; undefined when there is none. */
export function linkTo(
  public_url: string,
  { subject_type, subject_id }: { subject_type: string; subject_id: string },
): string | undefined {
  const pages: Readonly<Record<string, string>> = { request: 'requests', grant: 'grants' }
  const page = Object.hasOwn(pages, subject_type) ? pages[subject_type] : undefined
  return page === undefined ? undefined : `${public_url}/${page}/${encodeURIComponent(subject_id)}`
}
