import { type Static, Type } from 'typebox'
import { AnyObject, Body, DateTime, Name, Nullable, OneOf, Uuid } from '../http/schema.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { Serves } from './serving.ts'
import type { InventoryPart } from './target-inventory.ts'

/** The kinds of target. */
export const provisionerTypes = ['sandbox', 'postgresql', 'webhook', 'aws-identity-center'] as const
export type ProvisionerType = (typeof provisionerTypes)[number]

/**
 * The kinds that give access in the account that a request names, and in no other. A webhook may find a resource in any account; a
 * PostgreSQL server serves databases only, whose ids state their account.
 */
export const typesInNamedAccount: readonly ProvisionerType[] = ['sandbox', 'aws-identity-center']

const health = {
  checked_at: DateTime,
  ok: Type.Boolean({ description: 'whether every check is ok' }),
  checks: Type.Array(
    Type.Object({
      what: Type.String(),
      ok: Type.Boolean(),
      message: Nullable(Type.String({ description: 'how to fix it, or a note' })),
    }),
  ),
}

const TenantMode = OneOf(['rehearsal', 'live'] as const, {
  description: 'of the tenant. In rehearsal, what no provisioner serves is simulated; in a live tenant nothing is',
})

/** The result of a test. */
export const ProvisionerTestResult = Type.Object({ ...health, mode: TenantMode }, { title: 'ProvisionerTestResult' })
export type ProvisionerTestResult = Static<typeof ProvisionerTestResult>

const ProvisionerWarning = Type.Object(
  {
    code: OneOf(['serves_nothing', 'simulates_in_live'], {
      description:
        '`serves_nothing`: `serves` is empty, so it gives no access; `simulates_in_live`: it is a sandbox, whose access is simulated, ' +
        'in a live tenant, where it gives none',
    }),
    message: Type.String({ description: 'the warning, as a sentence' }),
  },
  { title: 'ProvisionerWarning' },
)

/** What the provisioner does not do, although it looks as if it did. */
export function warningsOf({
  serves,
  mode,
  provisioner_type,
}: Pick<Provisioner, 'serves' | 'mode' | 'provisioner_type'>): Pick<Provisioner, 'warnings'> {
  const warnings: Provisioner['warnings'] = []
  if (serves.length === 0) {
    const message = 'the provisioner serves nothing, so it gives no access: name the types of resource in `serves`'
    warnings.push({ code: 'serves_nothing', message })
  }
  if (mode === 'live' && provisioner_type === 'sandbox')
    warnings.push({ code: 'simulates_in_live', message: noSandboxInLive })
  return warnings.length === 0 ? {} : { warnings }
}

/** A live tenant promises that all access is real. */
export const noSandboxInLive =
  'the tenant is live, where nothing is simulated: a sandbox gives no access in it; delete it, and have another provisioner serve this'

/** Who acts at the target, as far as Sallyport knows. */
const TargetClaim = Type.Object(
  {
    status: OneOf(['held', 'contested', 'read_only'], {
      description:
        '`held`: this Sallyport acts there; `contested`: another one does, or another copy of this one, and nothing is done there; ' +
        '`read_only`: its database was restored or moved, and nothing is done at any target until its operator adopts it',
    }),
    since: DateTime,
    holder: Type.Optional(
      Type.Object(
        { installation: Type.String(), epoch: Type.Number(), seen_at: DateTime },
        { description: 'with `contested`: what the target says of the one that acts there' },
      ),
    ),
  },
  { title: 'TargetClaim' },
)

/** A provisioner as in replies. */
export const Provisioner = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    provisioner_type: OneOf(provisionerTypes, { description: 'never changes' }),
    mode: TenantMode,
    config: AnyObject,
    serves: Serves,
    enabled: Type.Boolean(),
    corrects_drift: Type.Boolean(),
    version: Type.Integer({ description: 'increases by one at each change' }),
    previous_secrets_until: Nullable(
      Type.String({
        format: 'date-time',
        description: 'until when the secrets from before the last rotation are valid beside the new ones',
      }),
    ),
    claim: Type.Optional(TargetClaim),
    warnings: Type.Optional(Type.Array(ProvisionerWarning, { description: 'absent where there are none' })),
    health: Nullable(
      Type.Object(health, {
        description: 'the last test; null when there was none since the last change of the config',
      }),
    ),
    created_at: DateTime,
    updated_at: DateTime,
  },
  { title: 'Provisioner' },
)
export type Provisioner = Static<typeof Provisioner>

const Snippet = Type.Object(
  {
    kind: OneOf(['cloudformation', 'terraform'] as const),
    file_name: Type.String({ description: 'the name under which `apply` expects it' }),
    text: Type.String({ description: 'the whole file' }),
    apply: Type.Array(Type.String(), { description: 'the command that applies the file, word by word' }),
  },
  { title: 'Snippet' },
)

/** What is to be made at the target of a provisioner. */
const Instructions = Type.Object(
  {
    identity: Nullable(
      Type.String({ description: 'as which the target knows the service; null when it has no identity there' }),
    ),
    note: Nullable(Type.String({ description: 'why there is nothing to apply, and how to fix it' })),
    snippets: Type.Array(Snippet, { description: 'each makes all that is needed; apply one of them' }),
  },
  { title: 'ProvisionerSetUp' },
)

/** The reply when secrets are generated: the record, and those secrets, which are shown only once. */
export const ProvisionerWithSecrets = Type.Object(
  {
    ...Provisioner.properties,
    set_up: Type.Optional(Instructions),
    shown_once: Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'secrets generated for the target, by field: shown only now',
    }),
  },
  { title: 'ProvisionerWithSecrets' },
)

const ProvisionerName = Name(200, { description: 'for people; need not be unique' })

const Config = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description:
    'The config of the type. A field that may be secret is write-only and shown as `[redacted]`; a field sent as that stays ' +
    'unchanged. An absent field is removed, except for generated secrets. At most 64 KiB.',
})

const CorrectsDrift = Type.Boolean({
  description: 'true: access that was removed or added at the target by hand is corrected, not only reported',
})

export const NewProvisioner = Body({
  name: ProvisionerName,
  provisioner_type: OneOf(provisionerTypes),
  config: Type.Optional(Config),
  serves: Type.Optional(Serves),
  enabled: Type.Optional(
    Type.Boolean({
      description:
        'a disabled provisioner gives no access, and still removes access. Absent: true, unless its test has first to find what the config ' +
        'leaves out',
    }),
  ),
  corrects_drift: Type.Optional(CorrectsDrift),
})

/** A change of a provisioner: only the fields sent change. */
export const ProvisionerChange = Body({
  name: Type.Optional(ProvisionerName),
  config: Type.Optional(Config),
  serves: Type.Optional(Serves),
  enabled: Type.Optional(Type.Boolean()),
  corrects_drift: Type.Optional(CorrectsDrift),
})
export type ProvisionerChange = Static<typeof ProvisionerChange>

/** The entitlements that a provisioner still manages, and whether access whose grants were lost may be at its target. */
export type ProvisionerUse = { entitlements: number; may_hold_lost: boolean }

/** Counts entitlements up to `maxCounted`; called with the provisioner locked. */
export type FindUse = (tx: Tx, provisioner_id: string, maxCounted: number) => Promise<ProvisionerUse>

/**
 * Has parts of the inventory of a provisioner read soon. `changed`: they may say something else than before; otherwise only what was never
 * read, or has failed. It is passed in, because the inventory knows provisioners.
 */
export type BeginInventory = (
  tx: Tx,
  provisioner_id: string,
  parts: readonly InventoryPart[],
  changed: boolean,
) => Statement

/** Has the target of a provisioner that was just enabled compared soon, where that is to be done. Passed in, because sweeps know provisioners. */
export type SweepEnabled = (tx: Tx, provisioner_id: string) => Statement

const maxCounted = 1_000

/** Throws 409 when access that a provisioner gave, or may have given, could be left behind. `doing`: the change that would leave it. */
export async function requireUnused(tx: Tx, id: string, findUse: FindUse, doing: string): Promise<void> {
  const { entitlements, may_hold_lost } = await findUse(tx, id, maxCounted)
  if (entitlements > 0) {
    const number = entitlements === maxCounted ? `${maxCounted} or more` : `${entitlements}`
    throw new Problem(
      'provisioner_in_use',
      `${doing} would leave access behind; entitlements at its target that are given, or not yet removed: ${number}; ` +
        'end their grants, wait until they are gone, then try again; disable the provisioner meanwhile to give no new access',
      { details: { entitlements } },
    )
  }
  if (may_hold_lost) {
    throw new Problem(
      'provisioner_in_use',
      `${doing} could leave access behind: its target was not compared with the grants since a restore or a failover; wait until it was; ` +
        'if it cannot be, disable the provisioner, and try again an hour after the restore or the failover',
      { details: { entitlements } },
    )
  }
}
