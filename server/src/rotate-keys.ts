import { resealTokenKeys, rotateTokenKey } from './auth/rotate-token-key.ts'
import { listAllSigningKeys } from './auth/signing-key-store.ts'
import type { Config } from './config/config.ts'
import type { Database } from './db/transaction.ts'
import type { RootKeys } from './secrets/root-key.ts'
import { addRootKey, loadRootKeys } from './secrets/root-key-file.ts'
import { countTenantKeys, listRootKeyIds } from './secrets/root-key-store.ts'
import { countDerived, forgetRootKeys, rotateTenantKeys, useFirstRootKey } from './secrets/rotate-root-key.ts'

/** What the operator asks for; nothing: everything under the first root key. */
export type KeysToRotate = {
  check?: boolean
  newRoot?: boolean
  dataKeys?: boolean
  tokenKey?: boolean
  endTokens?: boolean
}

type Said = { text: string; data: unknown }
type Tell = (line: string) => void

/**
 * `npm run admin -- rotate-keys`: changes keys beside running services.
 * @throws Error with a sentence, also where something stays under an old key
 */
export async function rotateKeys(config: Config, database: Database, asked: KeysToRotate, tell: Tell): Promise<Said> {
  const alone = (['check', 'newRoot', 'dataKeys', 'tokenKey'] as const).filter((name) => asked[name])
  if (alone.length > 1)
    throw new Error('--check, --new-root, --data-keys and --token-key are each for a run of its own')
  if (asked.endTokens && !asked.tokenKey) throw new Error('--end-tokens is for --token-key')
  if (asked.newRoot) return newRoot(config)
  const rootKeys = loadRootKeys({ secretKey: config.secret_key, dataDir: config.data_dir, isSealed: true })
  await requireAll(database, rootKeys)
  if (asked.check) return check(database, rootKeys)
  if (asked.tokenKey) return newTokenKey(database, rootKeys, asked.endTokens === true)
  return rotateRoot(database, rootKeys, asked.dataKeys === true, tell)
}

function newRoot({ secret_key, data_dir }: Config): Said {
  if (secret_key !== undefined) {
    throw new Error(
      'SECRET_KEY is set, so that `secret.key` is not read: put a new key (`openssl rand -base64 32`) and a comma before ' +
        'what SECRET_KEY holds, for every process, restart each, then `rotate-keys`',
    )
  }
  const path = addRootKey(data_dir)
  const text =
    `a new root key is the first line of \`${path}\`; running services find it there. Back the file up now; where others ` +
    'have a copy of it, bring it to them; then `rotate-keys`'
  return { text, data: { path } }
}

async function newTokenKey(database: Database, rootKeys: RootKeys, endTokens: boolean): Promise<Said> {
  const made = await rotateTokenKey(database.service, rootKeys.inUse(), { endTokens })
  const text = `token key ${made.kid} signs from ${made.signs_from}; those before it are good for nothing from ${made.others_retire_at}`
  return { text, data: made }
}

async function rotateRoot(database: Database, rootKeys: RootKeys, dataKeys: boolean, tell: Tell): Promise<Said> {
  const root = await useFirstRootKey(database, rootKeys)
  const token_keys = await resealTokenKeys(database.service, rootKeys, root)
  const onTenants = (tenants: number) => tell(`${tenants.toLocaleString('en')} tenants so far`)
  const { unopened, ...rotated } = await rotateTenantKeys({ database, rootKeys, dataKeys, onTenants })
  if (unopened.length > 0) {
    throw new Error(`${unopened.join('; ')}. All else is done; the old root keys are needed still`)
  }
  const needed = await forgetRootKeys(database)
  const data = { root_key_id: root.id, token_keys, ...rotated, needed_beside: needed }
  const { tenants, rewrapped, resealed, removed } = rotated
  const done = `tenants ${tenants}, data keys wrapped anew ${rewrapped} and removed ${removed}, secrets sealed anew ${resealed}, token keys ${token_keys}`
  if (needed.length > 0) {
    throw new Error(`${done}; but something is under ${needed.join(', ')} still: another rotation runs? Run it again`)
  }
  return { text: `${done}. Nothing is left under any root key but ${root.id}, the first${droppable(rootKeys)}`, data }
}

function droppable(rootKeys: RootKeys): string {
  const [, ...others] = rootKeys.all()
  if (others.length === 0) return ''
  return `: ${others.map(({ id }) => id).join(', ')} can be dropped, when the lists under way have been read on, and kept with the backups of before`
}

async function check(database: Database, rootKeys: RootKeys): Promise<Said> {
  const dataKeys = new Map((await countTenantKeys(database.work)).map(({ root_key_id, keys }) => [root_key_id, keys]))
  const tokenKeys = await listAllSigningKeys(database.service)
  const [inUse] = await listRootKeyIds(database.service)
  const derived = await countDerived(database)
  const unnamed = tokenKeys.filter(({ root_key_id }) => root_key_id === null).length
  const root_keys = rootKeys.all().map(({ id }) => ({
    id,
    in_use: id === inUse,
    data_keys: dataKeys.get(id) ?? 0,
    token_keys: tokenKeys.filter(({ root_key_id }) => root_key_id === id).length,
  }))
  const lines = root_keys.map(
    (key) => `${key.id}  data keys ${key.data_keys}, token keys ${key.token_keys}${key.in_use ? ', in use' : ''}`,
  )
  if (derived + unnamed > 0) {
    lines.push(
      `of old, under whichever root key there was: secrets ${derived}, token keys ${unnamed}: \`rotate-keys\` names it`,
    )
  }
  return { text: lines.join('\n'), data: { root_keys, of_old: { secrets: derived, token_keys: unnamed } } }
}

/** A run that lacks a key would leave what is under it. */
async function requireAll(database: Database, rootKeys: RootKeys): Promise<void> {
  const ids = await listRootKeyIds(database.service)
  const missing = ids.filter((id) => rootKeys.find(id) === undefined)
  if (missing.length > 0) {
    throw new Error(
      `the database holds what is under ${missing.join(', ')}, a root key that is not here: list it behind the new one`,
    )
  }
  if (ids[0] !== undefined) rootKeys.use(ids[0])
}
