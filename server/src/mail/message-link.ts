/**
 * The page of an event's subject, to which the link in a mail leads; undefined when there is none. It names the tenant, so that its reader need
 * not know the tenant's id to sign in. The page shows no more for that: a reader of the mail knows as much.
 */
export function linkTo(
  { public_url, tenant_id }: { public_url: string; tenant_id: string },
  { subject_type, subject_id }: { subject_type: string; subject_id: string },
): string | undefined {
  const pages: Readonly<Record<string, string>> = { request: 'requests', grant: 'grants' }
  const page = Object.hasOwn(pages, subject_type) ? pages[subject_type] : undefined
  return page === undefined ? undefined : `${public_url}/${page}/${encodeURIComponent(subject_id)}?t=${tenant_id}`
}
