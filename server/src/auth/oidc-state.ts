import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { isUuid } from '../kernel/id.ts'
import type { DerivedKeys } from '../secrets/root-key.ts'
import type { StoredSignIn } from '../settings/sign-in-setting.ts'

/** The sign-in under way that a `state` names. */
export type StateClaim = { tenant_id: string; id: string }

/** Signs a `state` and reads what it signed: the tenant, the id of the row, and a mark under the key. */
export type StateCodec = {
  sign(claim: StateClaim): string
  /** Undefined for any text that this service did not sign, to the letter. */
  read(text: string): StateClaim | undefined
}

/** @param keys derived for this alone: the one in use signs, each reads */
export function stateCodec(keys: DerivedKeys): StateCodec {
  const signWith = (key: Buffer, { tenant_id, id }: StateClaim) => {
    const claim = `${tenant_id}.${id}`
    return `${claim}.${createHmac('sha256', key).update(claim).digest('base64url')}`
  }
  return {
    sign: (claim) => signWith(keys.inUse(), claim),
    read(text) {
      const [tenant_id = '', id = '', ...mark] = text.split('.')
      if (mark.length !== 1 || !isUuid(tenant_id) || !isUuid(id)) return undefined
      // The whole text is compared, since a mark has several spellings in base64.
      const claim = { tenant_id, id }
      return keys.all().some((key) => sameText(text, signWith(key, claim))) ? claim : undefined
    },
  }
}

function sameText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

// ── What a sign-in is begun with, and must be finished with ────────────────────────────────────────────────────────────

/** What a sign-in under way is bound to. */
export type SignInState = {
  issuer: string
  client_id: string
  redirect_uri: string
  nonce: string
  code_verifier: string
  browser_hash: Buffer | null
}

/** A state as it was taken; `now`: the database's clock. */
export type TakenState = SignInState & { live: boolean; now: string }

/**
 * Why a sign-in may not go on that was begun here, before the provider is asked; undefined where it may.
 * @param setting as it is now; undefined where the tenant has none
 * @param browsers the secrets of the browser that answers, null where none does
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

/** How long a sign-in may take, in seconds; the database says the same. */
const maxSignInLength = 600

type HeaderOf = (name: string) => string | undefined

/**
 * The cookie that ties a sign-in to the browser that began it. `__Host-`: no other host and no plain connection can set
 * it; browsers take that by https alone, so that on plain http (a trial on loopback) it has a name without.
 */
export function browserCookie(publicUrl: string) {
  const secure = publicUrl.startsWith('https:')
  const name = secure ? '__Host-sallyport-sign-in' : 'sallyport-sign-in'
  const attributes = `Path=/; Max-Age=${maxSignInLength}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  return {
    newSecret: () => randomBytes(32).toString('base64url'),
    set: (secret: string) => `${name}=${secret}; ${attributes}`,
    /** Every secret that the request carries under the name; only such as this service makes. */
    read: (header: HeaderOf): string[] =>
      (header('cookie') ?? '')
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${name}=`))
        .map((pair) => pair.slice(name.length + 1))
        .filter((secret) => secretForm.test(secret)),
  }
}

const secretForm = /^[\w-]{43}$/

/** What is kept of a browser's secret. */
export function browserHash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** Whether somebody's browser goes to an address. No page can make a browser say otherwise, on https or on loopback. */
export function isNavigation(header: HeaderOf): boolean {
  const mode = header('sec-fetch-mode')
  // By plain http from afar browsers send no Sec-Fetch headers; they all ask for a page, though.
  return mode === undefined ? /\btext\/html\b/.test(header('accept') ?? '') : mode === 'navigate'
}

/** Whether a page in a browser makes the call: they all say which. A program may say so too, and is held to it. */
export function isFromPage(header: HeaderOf): boolean {
  return header('origin') !== undefined || header('sec-fetch-site') !== undefined
}

/**
 * Why a sign-in may not be finished from here; undefined when it may. One that a browser began ends in that browser; one
 * that none began ends in none, so that nobody is signed in to a stranger's account by a link.
 * @param hash of the browser that began it, null where none did
 * @param secrets of the browser that answers, null where none does
 */
export function browserFault(hash: Buffer | null, secrets: readonly string[] | null): string | undefined {
  if (hash === null) return secrets === null ? undefined : 'not_begun_by_browser'
  return secrets?.some((secret) => timingSafeEqual(browserHash(secret), hash)) ? undefined : 'other_browser'
}
