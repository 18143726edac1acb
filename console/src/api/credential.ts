/** A token by which this window calls the service in place of the browser's session, and the tenant that it is for. */
type Credential = { token: string; tenant_id: string }

/** INVARIANT: it stands in the memory of this window alone, and ends with the page. */
let credential: Credential | undefined

export function callBy(next: Credential): void {
  credential = next
}

/** The request as it is sent: with the token of this window where it has one, and then without the browser's session. */
export function withCredential(request: Request): Request {
  if (credential === undefined) return request
  const sent = new Request(request, { credentials: 'omit' })
  sent.headers.set('Authorization', `Bearer ${credential.token}`)
  sent.headers.set('X-Tenant-ID', credential.tenant_id)
  return sent
}
