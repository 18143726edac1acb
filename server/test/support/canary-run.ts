import { randomBytes } from 'node:crypto'
import { startTalkativeMailServer } from './canary-mail.ts'
import { CanarySecrets } from './canary-secrets.ts'
import { formType } from './form.ts'
import { freePort } from './free-port.ts'
import { openIdentityProvider } from './identity-provider.ts'
import { type Sallyport, startOnTestServer } from './sallyport.ts'
import { redirect_uri } from './sign-in-stage.ts'

type Sent = { body?: unknown; headers?: Record<string, string>; shown?: (text: string, headers: Headers) => string[] }
type Answer = { status: number; body: Record<string, unknown>; headers: Headers }

/** A real process with secrets in its environment, and an identity provider beside it. Every answer is kept. */
export async function openCanaryRun() {
  const secrets = new CanarySecrets()
  const client = {
    client_id: 'sallyport',
    client_secret: secrets.plant('client secret'),
    redirect_uris: [redirect_uri],
  }
  const portal = {
    client_id: 'portal',
    client_secret: secrets.plant('global client secret'),
    redirect_uris: [redirect_uri],
  }
  const idp = await openIdentityProvider([
    { ...client, pkce: true },
    { ...portal, pkce: false },
  ])
  const metricsPort = await freePort()
  const sallyport = await startOnTestServer({
    LOG_LEVEL: 'trace',
    SECRET_KEY: secrets.plant('root key', randomBytes(32).toString('base64')),
    EGRESS_ALLOW: '127.0.0.1',
    METRICS_PORT: `${metricsPort}`,
    SMTP_URL: await startTalkativeMailServer(secrets),
    OIDC_ISSUER: idp.issuer,
    OIDC_CLIENT_ID: portal.client_id,
    OIDC_CLIENT_SECRET: portal.client_secret,
    OIDC_REDIRECT_URIS: redirect_uri,
  })
  const { bootstrap } = sallyport
  secrets.plant('first password', bootstrap.admin.password)
  secrets.plant('first API key', bootstrap.api_key.split('_')[2])

  return { secrets, idp, client, sallyport, metricsPort, ...waysToSend(secrets, sallyport) }
}

/** Functions that call the service and keep its answers. */
function waysToSend(secrets: CanarySecrets, { base_url, bootstrap }: Pick<Sallyport, 'base_url' | 'bootstrap'>) {
  /** Calls, and keeps the answer without the parts that `shown` declares as shown once. */
  async function send(method: string, path: string, { body, headers = {}, shown }: Sent = {}): Promise<Answer> {
    const isForm = body instanceof URLSearchParams
    const call = () =>
      fetch(base_url + path, {
        method,
        redirect: 'manual',
        headers: { ...(body !== undefined && { 'content-type': isForm ? formType : 'application/json' }), ...headers },
        ...(body !== undefined && { body: isForm || typeof body === 'string' ? String(body) : JSON.stringify(body) }),
      })
    // The service may close an idle connection just as the test reuses it: it has read nothing of that call, so try again.
    const reply = await call().catch(call)
    const endless = reply.headers.get('content-type')?.startsWith('text/event-stream')
    const text = await (endless ? firstOf(reply) : reply.text())
    const all = `${text} ${JSON.stringify([...reply.headers])}`
    const once = reply.status < 400 ? (shown?.(text, reply.headers) ?? []) : []
    secrets.keep(`the answer to ${method} ${path.split('?')[0]}`, all, once)
    const isJson = reply.headers.get('content-type')?.startsWith('application/json') === true
    return { status: reply.status, headers: reply.headers, body: isJson && text !== '' ? JSON.parse(text) : {} }
  }

  const inTenant = { 'x-tenant-id': bootstrap.tenant_id }
  const asOwner = { ...inTenant, 'x-api-key': bootstrap.api_key }
  const owned = (method: string, path: string, body?: unknown) => send(method, path, { body, headers: asOwner })

  /** The secret part: of a token the signature, of a key the third part. */
  const plantToken = (text: string) => [secrets.plant('token', String(JSON.parse(text).token).split('.')[2])]
  const plantKey = (text: string) => [secrets.plant('API key', String(JSON.parse(text).key).split('_')[2])]
  /** What follows the prefix is the secret part. */
  const plantOurs = (secret: string) => secrets.plant('secret of ours', secret.replace(/^whsec_/, ''))
  const plantShownOnce = (text: string) =>
    Object.values((JSON.parse(text) as { shown_once: Record<string, string> }).shown_once).map(plantOurs)
  const plantSecret = (text: string) => [plantOurs((JSON.parse(text) as { secret: string }).secret)]
  return { send, owned, inTenant, asOwner, plantToken, plantKey, plantShownOnce, plantSecret }
}

/** The first chunk of an endless stream; then the caller disconnects. */
async function firstOf({ body }: Response): Promise<string> {
  let text = ''
  for await (const some of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += some
    if (text.includes('\n\n')) break
  }
  return text
}
