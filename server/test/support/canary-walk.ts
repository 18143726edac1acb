import type { Operation } from '../../src/http/operation.ts'
import { operations } from '../../src/operations.ts'
import { plantCookie, plantRefreshToken } from './canary-browsers.ts'
import type { openCanaryRun } from './canary-run.ts'
import { formOf } from './form.ts'
import { fullBody } from './full-bodies.ts'

/** Calls every operation as the owner, as a person and as nobody, the reads last. */
export async function callEveryOperation(run: Awaited<ReturnType<typeof openCanaryRun>>): Promise<void> {
  const { send, inTenant, asOwner, plantToken, plantKey, plantSecret, sallyport } = run
  const { bootstrap, base_url } = sallyport
  const { email, password } = bootstrap.admin
  const signIn = async () => {
    const sent = { body: { email, password }, headers: inTenant, shown: plantToken }
    const { body } = await send('POST', '/v1/auth/login', sent)
    return { ...inTenant, origin: base_url, authorization: `Bearer ${body.token}` }
  }
  const shownOnce: Record<string, (text: string, headers: Headers) => string[]> = {
    createApiKey: plantKey,
    createWebhookChannel: plantSecret,
    issueRefreshToken: (text) => plantRefreshToken(run, text),
    startSession: (_, headers) => plantCookie(run, String(headers.get('set-cookie'))),
  }
  const asPerson = await signIn()
  const isRead = ([, { method }]: [string, Operation]) => Number(method === 'GET')
  const readsLast = Object.entries(operations).toSorted((a, b) => isRead(a) - isRead(b))
  for (const [operationId, operation] of readsLast) {
    const path = operation.path.replace('{type}', 'provider_a').replaceAll(/\{\w+\}/g, bootstrap.tenant_id)
    // The sign-in settings of the run stay.
    if (operation.body !== undefined && operationId === 'updateSignInSettings') continue
    const shown = shownOnce[operationId]
    const sent = {
      ...(operation.body !== undefined && { body: bodyOf(operationId, operation) }),
      ...(shown && { shown }),
    }
    // What gives a session away, or ends one, has one of its own.
    const isTaken = operation.setsCookie || operation.credential === 'token'
    for (const headers of [asOwner, isTaken ? await signIn() : asPerson, inTenant]) {
      await send(operation.method, path, { headers, ...sent })
    }
    if (operation.method === 'GET') await send('GET', `${path}?limit=200`, { headers: asOwner })
  }
}

function bodyOf(operationId: string, { bodyType }: Operation): unknown {
  const body = fullBody(operationId)
  return bodyType === 'form' ? new URLSearchParams(formOf(body as object)) : body
}
