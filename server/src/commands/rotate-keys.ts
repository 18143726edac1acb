import { type NewTokenKey, replaceTokenKey } from '../auth/replace-token-key.flow.ts'
import { countKeysByRoot, rotateRootKey } from '../auth/rotate-root-key.flow.ts'
import { rotateTokenKey } from '../auth/rotate-token-key.flow.ts'
import type { Config } from '../config/config.ts'
import type { Database } from '../db/transaction.ts'
import type { RootKeys } from '../secrets/root-key.ts'
import { addRootKey, loadRootKeys } from '../secrets/root-key-file.ts'
import { followRootKeyInUse } from '../secrets/root-key-in-use.flow.ts'
import type { Output } from './output.ts'
import type { WithPauses } from './pause.ts'

/** The operator's options; without any, everything is moved to the first root key. */
export type KeysToRotate = {
  check?: boolean
  newRoot?: boolean
  dataKeys?: boolean
  tokenKey?: boolean
  endTokens?: boolean
}

type Running = {
  log(line: string): void
  withPauses: WithPauses
}

/**
 * `npm run admin -- rotate-keys`: changes keys while services run.
 * @throws Error with a sentence, also if something stays under an old key
 */
export async function rotateKeys(
  config: Config,
  database: Database,
  options: KeysToRotate,
  { log, withPauses }: Running,
): Promise<Output> {
  const alone = (['check', 'newRoot', 'dataKeys', 'tokenKey'] as const).filter((name) => options[name])
  if (alone.length > 1)
    throw new Error('--check, --new-root, --data-keys and --token-key cannot be combined; run them one by one')
  if (options.endTokens && !options.tokenKey) throw new Error('--end-tokens needs --token-key')
  if (options.newRoot) return newRoot(config)
  const rootKeys = await loadAllRootKeys(config, database)
  if (options.check) {
    const counted = await countKeysByRoot(database, rootKeys)
    return describeCount(counted)
  }
  if (options.tokenKey) {
    const root = rootKeys.inUse()
    if (!options.endTokens) return describeTokenKey(await rotateTokenKey(database.service, root, { endTokens: false }))
    const onMade = (made: NewTokenKey) => log(describeWait(made))
    return describeReplacement(await withPauses((pause) => replaceTokenKey(database, root, { onMade, pause })))
  }
  const onTenants = (tenants: number) => log(`${tenants.toLocaleString('en')} tenants so far`)
  const rotated = await rotateRootKey(database, rootKeys, { dataKeys: options.dataKeys === true, onTenants })
  return describeRotation(rotated)
}

function newRoot({ secret_key, data_dir }: Config): Output {
  if (secret_key !== undefined) {
    throw new Error(
      'SECRET_KEY is set, so `secret.key` is not read: put a new key (`openssl rand -base64 32`) and a comma before the ' +
        'value of SECRET_KEY, for every process, restart each process, then run `rotate-keys`',
    )
  }
  const path = addRootKey(data_dir)
  const text =
    `a new root key is the first line of \`${path}\`; running services find it there. Back up the file now; if other ` +
    'processes have a copy of it, update their copies; then run `rotate-keys`'
  return { text, data: { path } }
}

/** @throws Error if a root key that the database needs is missing: a run without it would leave its data under it */
async function loadAllRootKeys({ secret_key, data_dir }: Config, { service }: Database): Promise<RootKeys> {
  const rootKeys = loadRootKeys({ secretKey: secret_key, dataDir: data_dir, isSealed: true })
  const { missing } = await followRootKeyInUse(service, rootKeys)
  if (missing.length === 0) return rootKeys
  throw new Error(
    `the database has data under the root key ${missing.join(', ')}, which is not configured: list it after the new one`,
  )
}

function describeCount(data: Awaited<ReturnType<typeof countKeysByRoot>>): Output {
  const { root_keys, of_old } = data
  const lines = root_keys.map(
    (key) =>
      `${key.id}  data keys ${key.data_keys}, token keys ${key.token_keys}, discovery keys ${key.discovery_keys}${key.in_use ? ', in use' : ''}`,
  )
  if (of_old.secrets + of_old.token_keys > 0) {
    lines.push(
      `in the old format, under an unnamed root key: secrets ${of_old.secrets}, token keys ${of_old.token_keys}: ` +
        '`rotate-keys` names it',
    )
  }
  return { text: lines.join('\n'), data }
}

function describeTokenKey(made: NewTokenKey): Output {
  const text = `token key ${made.kid} signs from ${made.signs_from}; the older token keys are invalid from ${made.others_retire_at}`
  return { text, data: made }
}

/** What happens until the new key takes over, and what to do if the command does not get there. */
function describeWait({ kid, signs_from }: NewTokenKey): string {
  return (
    `token key ${kid} takes over at ${signs_from}; until then the old one is still valid. All sessions end now, and those ` +
    `that begin until then end at that moment. Stay until ${signs_from}; if this is interrupted, run it again, which is safe`
  )
}

function describeReplacement(replaced: NewTokenKey & { sessions: number }): Output {
  const { kid, signs_from, sessions } = replaced
  const text =
    `token key ${kid} has taken over; the older token keys are invalid. ${sessions.toLocaleString('en')} sessions ended, ` +
    `all that began before ${signs_from}: everybody has to sign in again`
  return { text, data: replaced }
}

/** @throws Error if something is still under another root key */
function describeRotation({ droppable, ...data }: Awaited<ReturnType<typeof rotateRootKey>>): Output {
  const { root_key_id, tenants, rewrapped, removed, resealed, token_keys, needed_beside } = data
  const done = `tenants ${tenants}, data keys wrapped again ${rewrapped} and removed ${removed}, secrets sealed again ${resealed}, token keys ${token_keys}`
  if (needed_beside.length > 0) {
    throw new Error(
      `${done}; but something is still under ${needed_beside.join(', ')}: another rotation may be running; run this again`,
    )
  }
  const rest =
    droppable.length === 0
      ? ''
      : `: ${droppable.join(', ')} can be dropped once no client pages through a list that it began before; keep it with the older backups`
  return { text: `${done}. Nothing is left under any root key but ${root_key_id}, the first${rest}`, data }
}
