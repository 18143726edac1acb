import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { cookiesOf } from '../http/cookie.ts'
import { isUuid } from '../kernel/id.ts'
import type { DerivedKeys } from '../secrets/root-key.ts'
import type { StoredSignIn } from '../settings/sign-in-setting.ts'

/** The sign-in in progress that a `state` names. */
export type StateClaim = { tenant_id: string; id: string }

/** Signs and reads a `state`: the tenant's id, the id of the row, and a signature (HMAC). */
export type StateCodec = {
  sign(claim: StateClaim): string
  /** Undefined for any text that is not exactly as this service signed it. */
  read(text: string): StateClaim | undefined
}

/** @param keys derived for this purpose only: the key in use signs, all keys read */
export function stateCodec(keys: DerivedKeys): StateCodec {
  const signWith = (key: Buffer, { tenant_id, id }: StateClaim) => {
    const claim = `${tenant_id}.${id}`
    return `${claim}.${createHmac('sha256', key).update(claim).digest('base64url')}`
  }
  return {
    sign: (claim) => signWith(keys.inUse(), claim),
    read(text) {
      const [tenant_id = '', id = '', ...signature] = text.split('.')
      if (signature.length !== 1 || !isUuid(tenant_id) || !isUuid(id)) return undefined
      // Compare the whole text, since a signature has several spellings in base64.
      const claim = { tenant_id, id }
      return keys.all().some((key) => sameText(text, signWith(key, claim))) ? claim : undefined
    },
  }
}

function sameText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

// ── The values that bind the end of a sign-in to its beginning ─────────────────────────────────────────────────────────

/** The values that a sign-in in progress is bound to. */
export type SignInState = {
  issuer: string
  client_id: string
  redirect_uri: string
  nonce: string
  code_verifier: string
  /** How old the sign-in at the provider may be, in seconds; null: any. */
  max_age: number | null
  browser_hash: Buffer | null
}

/** A state that was taken from the database. `now`: the database's clock. */
export type TakenState = SignInState & { live: boolean; now: string }

/**
 * Why a sign-in that began here may not go on, checked before the provider is called; undefined when it may.
 * @param setting the current one; undefined when the tenant has none
 * @param browsers the secrets that the browser sent; null when the caller is not a browser
 */
export function stateFault(
  taken: TakenState,
  setting: StoredSignIn | undefined,
  answer: { redirect_uri: string; iss: string | undefined },
  browsers: readonly string[] | null,
): string | undefined {
  if (!taken.live) return 'state_expired'
  if (answer.redirect_uri !== taken.redirect_uri) return 'redirect_uri'
  if (answer.iss !== undefined && answer.iss !== taken.issuer) return 'other_issuer'
  if (setting === undefined || !setting.enabled) return 'provider_disabled'
  if (setting.issuer !== taken.issuer || setting.client_id !== taken.client_id) return 'provider_changed'
  if (!setting.redirect_uris.includes(taken.redirect_uri)) return 'redirect_uri'
  return browserFault(taken.browser_hash, browsers)
}

// ── The browser that begins a sign-in ──────────────────────────────────────────────────────────────────────────────────

/** How long a sign-in may take, in seconds. The database uses the same limit. */
const maxSignInSeconds = 600

type HeaderOf = (name: string) => string | undefined

/**
 * The cookie that binds a sign-in to the browser that began it. With the prefix `__Host-` no other host and no plain
 * connection can set it. Browsers accept the prefix over https only, so on plain http (a trial on loopback) the name lacks it.
 */
export function browserCookie(publicUrl: string) {
  const secure = publicUrl.startsWith('https:')
  const name = secure ? '__Host-sallyport-sign-in' : 'sallyport-sign-in'
  const attributes = `Path=/; Max-Age=${maxSignInSeconds}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  return {
    newSecret: () => randomBytes(32).toString('base64url'),
    set: (secret: string) => `${name}=${secret}; ${attributes}`,
    /** Every secret in the request under the cookie's name, as far as it has the form that this service makes. */
    read: (header: HeaderOf): string[] => cookiesOf(header('cookie'), name).filter((secret) => secretForm.test(secret)),
  }
}

const secretForm = /^[\w-]{43}$/

/** The hash that is stored in place of a browser's secret. */
export function browserHash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** Whether the request is a browser's navigation. On https and on loopback, no page can make a browser send otherwise. */
export function isNavigation(header: HeaderOf): boolean {
  const mode = header('sec-fetch-mode')
  // Over plain http to another host browsers send no Sec-Fetch headers, but they all accept text/html.
  return mode === undefined ? /\btext\/html\b/.test(header('accept') ?? '') : mode === 'navigate'
}

/** Whether a page in a browser makes the call: browsers always send these headers. A program that sends them is treated alike. */
export function isFromPage(header: HeaderOf): boolean {
  return header('origin') !== undefined || header('sec-fetch-site') !== undefined
}

/**
 * Why the caller may not finish a sign-in; undefined when it may. A sign-in that a browser began must end in that browser.
 * One that no browser began must not end in a browser, so that a link cannot sign a user in to an attacker's account.
 * @param hash of the secret of the browser that began the sign-in; null when no browser did
 * @param secrets that the finishing browser sent; null when the caller is not a browser
 */
export function browserFault(hash: Buffer | null, secrets: readonly string[] | null): string | undefined {
  if (hash === null) return secrets === null ? undefined : 'not_begun_by_browser'
  return secrets?.some((secret) => timingSafeEqual(browserHash(secret), hash)) ? undefined : 'other_browser'
}
