import { type Static, Type } from 'typebox'
import { Body, DateTime, Nullable } from '../http/schema.ts'
import { type FaultyField, invalidInput, Problem } from '../kernel/errors.ts'
import { allScopes, scopesLacking } from '../permissions/permission.ts'
import { redacted } from '../secrets/sealed-config.ts'

const maxAddressLength = 2_000
const maxRedirects = 50
const Address = Type.String({ minLength: 1, maxLength: maxAddressLength })

/** How a tenant's people sign in by their own provider, as it is answered. Nothing is set: issuer and client_id are null. */
export const SignInSetting = Type.Object(
  {
    enabled: Type.Boolean(),
    issuer: Nullable(Type.String()),
    client_id: Nullable(Type.String()),
    client_secret: Nullable(Type.String({ description: '`[redacted]`, or null where there is none' })),
    redirect_uris: Type.Array(Type.String()),
    scopes: Type.Array(Type.String()),
    updated_at: Type.Optional(DateTime),
  },
  { title: 'SignInSetting' },
)
export type SignInSetting = Static<typeof SignInSetting>

export const SignInSettingInput = Body({
  enabled: Type.Optional(Type.Boolean({ description: 'true where it is left out' })),
  issuer: Type.String({
    minLength: 1,
    maxLength: maxAddressLength,
    description: 'the provider as it names itself, to the letter: `https://id.example.com`',
  }),
  client_id: Type.String({ minLength: 1, maxLength: 500 }),
  client_secret: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 2_000,
        description: 'left out or `[redacted]`: the one that is kept; null: none, the client is public',
      }),
    ),
  ),
  redirect_uris: Type.Array(Address, {
    minItems: 1,
    maxItems: maxRedirects,
    description: 'where the provider may send people back to, compared to the letter',
  }),
  scopes: Type.Optional(
    Type.Array(Type.String({ pattern: '^[\\x21\\x23-\\x5B\\x5D-\\x7E]{1,200}$' }), {
      maxItems: 50,
      description: 'what is asked of the provider: `openid`, `email` and `profile` where it is left out',
    }),
  ),
})
export type SignInSettingInput = Static<typeof SignInSettingInput>

const defaultScopes = ['openid', 'email', 'profile']

/** What is set, as it is kept. The secret is sealed. */
export type StoredSignIn = {
  enabled: boolean
  issuer: string
  client_id: string
  sealed_client_secret: string | null
  redirect_uris: string[]
  scopes: string[]
  version: string
  updated_at: string
}

/** What becomes of the secret: `keep` the sealed one, none, or this new one. */
export type SecretChange = 'keep' | null | { secret: string }

/** What a caller sent, with every part in order. */
export type CheckedSignIn = Pick<StoredSignIn, 'enabled' | 'issuer' | 'client_id' | 'redirect_uris' | 'scopes'> & {
  client_secret: SecretChange
}

/**
 * Reads what somebody would set in place of `before`.
 * @param issuerFault what is wrong with where the issuer leads, in a half-sentence
 * @throws Problem 400 naming each faulty field; a kept secret beside another issuer or client, too: whoever may set them
 * could else have the secret sent to themselves
 */
export function readSignInSetting(
  input: SignInSettingInput,
  before: StoredSignIn | undefined,
  issuerFault: string | undefined,
): CheckedSignIn {
  const { enabled = true, issuer, client_id, redirect_uris, scopes = defaultScopes } = input
  const client_secret = secretChange(input.client_secret, before)
  const wrongIssuer = issuerFault ?? formFault(issuer)
  const faults: FaultyField[] = [
    ...(wrongIssuer === undefined ? [] : [{ pointer: '/issuer', why: wrongIssuer }]),
    ...secretFaults(client_secret, input, before),
    ...redirect_uris.flatMap((text, index) => {
      const why = redirectFault(text)
      return why === undefined ? [] : [{ pointer: `/redirect_uris/${index}`, why }]
    }),
    ...(scopes.includes('openid') ? [] : [{ pointer: '/scopes', why: 'must hold `openid`' }]),
  ]
  if (faults.length > 0) throw invalidInput(faults)
  return {
    enabled,
    issuer,
    client_id,
    client_secret,
    redirect_uris: [...new Set(redirect_uris)],
    scopes: [...new Set(scopes)],
  }
}

/** What somebody holds who may do whatever a person may: directories write people, and are none. */
const everyScope = allScopes.filter((scope) => scope !== 'scim:provision')

/**
 * INVARIANT: whoever says by which provider people sign in, as which client and back to where, could sign in as any of
 * them. So only somebody who may do all of it anyway says so; switching it off and on needs no more than the setting.
 * @throws Problem 403 naming the scopes that are lacking
 */
export function requireMayNameProvider(
  granter: ReadonlySet<string>,
  input: SignInSettingInput,
  before: StoredSignIn | undefined,
): void {
  const same =
    before?.issuer === input.issuer &&
    before.client_id === input.client_id &&
    input.redirect_uris.every((address) => before.redirect_uris.includes(address))
  const lacking = same ? [] : scopesLacking(granter, everyScope)
  if (lacking.length === 0) return
  const message = `whoever names the provider says who people are, and needs every scope; you lack ${lacking.join(', ')}`
  throw new Problem('forbidden', message, { details: { scopes: lacking } })
}

function secretChange(asked: string | null | undefined, before: StoredSignIn | undefined): SecretChange {
  if (asked === undefined) return before === undefined ? null : 'keep'
  if (asked === redacted) return 'keep'
  return asked === null ? null : { secret: asked }
}

function secretFaults(
  change: SecretChange,
  input: SignInSettingInput,
  before: StoredSignIn | undefined,
): FaultyField[] {
  if (change !== 'keep') return []
  const pointer = '/client_secret'
  if (before === undefined)
    return [{ pointer, why: `is \`${redacted}\`, and none is kept yet: send the secret itself` }]
  const moved = before.issuer !== input.issuer || before.client_id !== input.client_id
  if (!moved || before.sealed_client_secret === null) return []
  return [{ pointer, why: 'is needed anew where the issuer or the client changes: the kept one would go elsewhere' }]
}

/** The form of an issuer: no query and no fragment, as OpenID Connect Discovery has it. */
function formFault(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null) return 'must be an https address'
  return /[?#]|\/\.well-known\//.test(text)
    ? 'must be the issuer itself, without a query or a well-known path'
    : undefined
}

const loopback = ['localhost', '127.0.0.1', '[::1]']

/** What is wrong with an address to come back to, in a half-sentence; undefined when it will do. */
function redirectFault(text: string): string | undefined {
  const url = URL.parse(text)
  const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && loopback.includes(url.hostname))
  if (url === null || !safe) return 'must be an https address, or http on loopback'
  if (/[?#]/.test(text) || url.username !== '' || url.password !== '') {
    return 'must not hold a query, a fragment, a name or a password'
  }
  return url.href === text ? undefined : `must be written \`${url.href}\`: it is compared to the letter`
}

/** What is set, as it is answered. */
export function shownSignIn(stored: StoredSignIn | undefined): SignInSetting {
  if (stored === undefined) {
    const nothing = { issuer: null, client_id: null, client_secret: null, redirect_uris: [] }
    return { enabled: false, ...nothing, scopes: defaultScopes }
  }
  const { enabled, issuer, client_id, sealed_client_secret, redirect_uris, scopes, updated_at } = stored
  const client_secret = sealed_client_secret === null ? null : redacted
  return { enabled, issuer, client_id, client_secret, redirect_uris, scopes, updated_at }
}
