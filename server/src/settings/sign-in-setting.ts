import { type Static, Type } from 'typebox'
import {
  GroupMapping,
  GroupMappingInput,
  mappingFaults,
  maxMappings,
  readMappings,
  type WantedMapping,
} from '../groups/group-mapping.ts'
import { Body, DateTime, Line, Nullable, OneOf, Uuid } from '../http/schema.ts'
import { type FaultyField, invalidInput } from '../kernel/errors.ts'
import { requireEveryScope } from '../permissions/permission.ts'
import { redacted } from '../secrets/sealed-config.ts'

const maxAddressLength = 2_000
/** An issuer and a subject are one key of an index, which holds 2,700 bytes. */
const maxIssuerLength = 500
const maxRedirects = 50
const Address = Type.String({ minLength: 1, maxLength: maxAddressLength })

/** Whether an address counts as verified: as the provider's claim says, always, or never. */
export const emailTrusts = ['claim', 'always', 'never'] as const
/** The claim that identifies a person. Microsoft Entra's `sub` differs for each application, its `oid` does not. */
export const subjectClaims = ['sub', 'oid'] as const

/** What a tenant relies on in the claims of its provider. */
export type ClaimTrust = {
  email_trust: (typeof emailTrusts)[number]
  subject_claim: (typeof subjectClaims)[number]
}
const defaultTrust: ClaimTrust = { email_trust: 'claim', subject_claim: 'sub' }
const maxClaimLength = 200

/** The settings of a tenant's own sign-in provider, as returned by the API. When unset, id, issuer and client_id are null. */
export const SignInSetting = Type.Object(
  {
    id: Nullable(Type.String({ format: 'uuid', description: 'of the provider; it stays when the settings change' })),
    enabled: Type.Boolean(),
    issuer: Nullable(Type.String()),
    client_id: Nullable(Type.String()),
    client_secret: Nullable(Type.String({ description: '`[redacted]`, or null when there is none' })),
    redirect_uris: Type.Array(Type.String()),
    scopes: Type.Array(Type.String()),
    email_trust: OneOf(emailTrusts, { description: 'whose word makes an address verified' }),
    subject_claim: OneOf(subjectClaims, { description: 'the claim that identifies a person' }),
    groups_claim: Nullable(Type.String({ description: 'the claim whose values give groups; null: none' })),
    group_mappings: Type.Array(GroupMapping),
    identity_provider_id: Nullable(
      Type.String({ ...Uuid, description: 'the directory whose users sign in by the provider; null: none' }),
    ),
    updated_at: Type.Optional(DateTime),
  },
  { title: 'SignInSetting' },
)
export type SignInSetting = Static<typeof SignInSetting>

export const SignInSettingInput = Body({
  enabled: Type.Optional(Type.Boolean({ description: 'default: true' })),
  issuer: Type.String({
    minLength: 1,
    maxLength: maxIssuerLength,
    description:
      'exactly as the provider names itself: `https://id.example.com`, without credentials, a query or a fragment',
  }),
  client_id: Type.String({ minLength: 1, maxLength: 500 }),
  client_secret: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 2_000,
        description: 'omitted or `[redacted]`: keeps the stored secret; null: none, the client is public',
      }),
    ),
  ),
  redirect_uris: Type.Array(Address, {
    minItems: 1,
    maxItems: maxRedirects,
    description:
      'the addresses to which the provider may redirect users, compared exactly; each is https, or http on loopback',
  }),
  scopes: Type.Optional(
    Type.Array(Type.String({ pattern: '^[\\x21\\x23-\\x5B\\x5D-\\x7E]{1,200}$' }), {
      maxItems: 50,
      description: 'the scopes requested from the provider, with `openid`; default: `openid`, `email` and `profile`',
    }),
  ),
  email_trust: Type.Optional(
    OneOf(emailTrusts, {
      description:
        'whether addresses count as verified: as `email_verified` (or Entra’s `xms_edov`) says, always, or never; default: `claim`',
    }),
  ),
  subject_claim: Type.Optional(
    OneOf(subjectClaims, { description: 'the claim that identifies a person; default: `sub`; for Entra: `oid`' }),
  ),
  groups_claim: Type.Optional(
    Nullable(
      Line(maxClaimLength, {
        description: 'the claim whose values give groups, such as `groups`; omitted: the present one stays; null: none',
      }),
    ),
  ),
  group_mappings: Type.Optional(
    Type.Array(GroupMappingInput, {
      maxItems: maxMappings,
      description: 'which values give which groups, as a whole; omitted: the present mappings stay',
    }),
  ),
  identity_provider_id: Type.Optional(
    Nullable(
      Type.String({
        ...Uuid,
        description:
          'the directory whose users sign in by the provider: `subject_claim` equals their `externalId`, and nobody else begins; ' +
          'omitted: the present one stays; null: none',
      }),
    ),
  ),
})
export type SignInSettingInput = Static<typeof SignInSettingInput>

const defaultScopes = ['openid', 'email', 'profile']

/** The setting as stored. The secret is sealed. */
export type StoredSignIn = ClaimTrust & {
  id: string
  enabled: boolean
  issuer: string
  client_id: string
  sealed_client_secret: string | null
  redirect_uris: string[]
  scopes: string[]
  groups_claim: string | null
  identity_provider_id: string | null
  version: string
  updated_at: string
}

/** The setting with its mappings. */
export type WholeSignIn = StoredSignIn & { group_mappings: GroupMapping[] }

/** The change of the secret: `keep` the sealed one, null for none, or a new one. */
export type SecretChange = 'keep' | null | { secret: string }

/** A caller's input, validated. */
export type CheckedSignIn = ClaimTrust &
  Pick<
    StoredSignIn,
    'enabled' | 'issuer' | 'client_id' | 'redirect_uris' | 'scopes' | 'groups_claim' | 'identity_provider_id'
  > & {
    client_secret: SecretChange
    /** Undefined: those that are there stay. */
    group_mappings: WantedMapping[] | undefined
  }

/**
 * Reads the setting that replaces `before`.
 * @throws Problem 400 naming each faulty field, and for a kept secret beside another issuer or client: otherwise a caller
 * who may change these could redirect the secret to itself
 */
export function readSignInSetting(input: SignInSettingInput, before: StoredSignIn | undefined): CheckedSignIn {
  const { enabled = true, issuer, client_id, redirect_uris, scopes = defaultScopes } = input
  const client_secret = secretChange(input.client_secret, before)
  const group_mappings = input.group_mappings && readMappings(input.group_mappings)
  const wrongIssuer = formFault(issuer)
  const faults: FaultyField[] = [
    ...(wrongIssuer === undefined ? [] : [{ pointer: '/issuer', why: wrongIssuer }]),
    ...secretFaults(client_secret, input, before),
    ...redirect_uris.flatMap((text, index) => {
      const why = redirectFault(text)
      return why === undefined ? [] : [{ pointer: `/redirect_uris/${index}`, why }]
    }),
    ...mappingFaults(group_mappings ?? []),
    ...(scopes.includes('openid') ? [] : [{ pointer: '/scopes', why: 'must hold `openid`' }]),
  ]
  if (faults.length > 0) throw invalidInput(faults)
  return {
    ...trustIn(input),
    enabled,
    issuer,
    client_id,
    client_secret,
    redirect_uris: [...new Set(redirect_uris)],
    scopes: [...new Set(scopes)],
    groups_claim: groupsClaimIn(input, before),
    group_mappings,
    identity_provider_id: directoryIn(input, before),
  }
}

/** A client of an earlier version sends none: it must not remove it. */
function groupsClaimIn(input: SignInSettingInput, before: StoredSignIn | undefined): string | null {
  return input.groups_claim === undefined ? (before?.groups_claim ?? null) : input.groups_claim
}

/** The same of the directory. */
function directoryIn(input: SignInSettingInput, before: StoredSignIn | undefined): string | null {
  const { identity_provider_id: sent } = input
  return sent === undefined ? (before?.identity_provider_id ?? null) : (sent?.toLowerCase() ?? null)
}

function trustIn(input: SignInSettingInput): ClaimTrust {
  const { email_trust = defaultTrust.email_trust, subject_claim = defaultTrust.subject_claim } = input
  return { email_trust, subject_claim }
}

/**
 * INVARIANT: a caller who sets the provider, the client, the redirect URIs or the trust in claims could sign in as any user. So
 * only a caller with every scope may set them. Disabling and enabling the provider needs only the setting's own scope.
 * @throws Problem 403 naming the scopes that the caller lacks
 */
export function requireMayNameProvider(
  granter: ReadonlySet<string>,
  input: SignInSettingInput,
  before: StoredSignIn | undefined,
): void {
  const { email_trust, subject_claim } = trustIn(input)
  const same =
    before?.issuer === input.issuer &&
    before.email_trust === email_trust &&
    before.subject_claim === subject_claim &&
    before.groups_claim === groupsClaimIn(input, before) &&
    before.identity_provider_id === directoryIn(input, before) &&
    before.client_id === input.client_id &&
    input.redirect_uris.every((address) => before.redirect_uris.includes(address))
  if (!same) requireEveryScope(granter, 'setting the sign-in provider decides who users are')
}

/** Whether the issuer is tried: one that is new, or about to be used again. A provider that fails just now can be disabled. */
export function triesIssuer({ enabled, issuer }: CheckedSignIn, before: StoredSignIn | undefined): boolean {
  return enabled && (before?.enabled !== true || before.issuer !== issuer)
}

function secretChange(sent: string | null | undefined, before: StoredSignIn | undefined): SecretChange {
  if (sent === undefined) return before === undefined ? null : 'keep'
  if (sent === redacted) return 'keep'
  return sent === null ? null : { secret: sent }
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
  return [
    { pointer, why: 'must be sent again when the issuer or the client changes: the kept secret would go elsewhere' },
  ]
}

/** Checks the form of an issuer: a web address without a query and a fragment, as OpenID Connect Discovery requires. */
function formFault(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null || !/^https?:\/\/\S+$/.test(text)) return 'must be an https address'
  if (Buffer.byteLength(text) > maxIssuerLength) return 'is too long'
  if (url.username !== '' || url.password !== '') return 'must not hold a name or a password'
  return /[?#]|\/\.well-known\//.test(text)
    ? 'must be the issuer itself, without a query or a well-known path'
    : undefined
}

const loopback = ['localhost', '127.0.0.1', '[::1]']

/** Returns the fault of a redirect URI as a half-sentence; undefined for a valid one. */
function redirectFault(text: string): string | undefined {
  const url = URL.parse(text)
  const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && loopback.includes(url.hostname))
  if (url === null || !safe) return 'must be an https address, or http on loopback'
  if (/[?#]/.test(text) || url.username !== '' || url.password !== '') {
    return 'must not hold a query, a fragment, a name or a password'
  }
  return url.href === text ? undefined : `must be written \`${url.href}\`: it is compared exactly`
}

/** Whether nobody vouches any more for the groups of those who signed in: by another issuer, or another claim. */
export function isAnotherSource(now: StoredSignIn, before: StoredSignIn | undefined): boolean {
  return before !== undefined && (now.issuer !== before.issuer || now.groups_claim !== before.groups_claim)
}

/** The setting as returned by the API. */
export function shownSignIn(stored: WholeSignIn | undefined): SignInSetting {
  if (stored === undefined) {
    const nothing = { id: null, issuer: null, client_id: null, client_secret: null, redirect_uris: [] }
    const claims = { ...defaultTrust, groups_claim: null, group_mappings: [], identity_provider_id: null }
    return { enabled: false, ...nothing, scopes: defaultScopes, ...claims }
  }
  const { sealed_client_secret, version: _, ...shown } = stored
  return { ...shown, client_secret: sealed_client_secret === null ? null : redacted }
}
