import { countKeysByRoot, rotateRootKey } from '../auth/rotate-root-key.flow.ts'
import { rotateTokenKey } from '../auth/rotate-token-key.flow.ts'
import type { Config } from '../config/config.ts'
import type { Database } from '../db/transaction.ts'
import type { RootKeys } from '../secrets/root-key.ts'
import { addRootKey, loadRootKeys } from '../secrets/root-key-file.ts'
import { followRootKeyInUse } from '../secrets/root-key-in-use.flow.ts'

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
  const rootKeys = await loadAllRootKeys(config, database)
  if (asked.check) {
    const counted = await countKeysByRoot(database, rootKeys)
    return describeCount(counted)
  }
  if (asked.tokenKey) {
    const made = await rotateTokenKey(database.service, rootKeys.inUse(), { endTokens: asked.endTokens === true })
    return describeTokenKey(made)
  }
  const onTenants = (tenants: number) => tell(`${tenants.toLocaleString('en')} tenants so far`)
  const rotated = await rotateRootKey(database, rootKeys, { dataKeys: asked.dataKeys === true, onTenants })
  return describeRotation(rotated)
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

/** @throws Error where one is missing that the database needs: a run without it would leave what is under it */
async function loadAllRootKeys({ secret_key, data_dir }: Config, { service }: Database): Promise<RootKeys> {
  const rootKeys = loadRootKeys({ secretKey: secret_key, dataDir: data_dir, isSealed: true })
  const { missing } = await followRootKeyInUse(service, rootKeys)
  if (missing.length === 0) return rootKeys
  throw new Error(
    `the database holds what is under ${missing.join(', ')}, a root key that is not here: list it behind the new one`,
  )
}

function describeCount(data: Awaited<ReturnType<typeof countKeysByRoot>>): Said {
  const { root_keys, of_old } = data
  const lines = root_keys.map(
    (key) => `${key.id}  data keys ${key.data_keys}, token keys ${key.token_keys}${key.in_use ? ', in use' : ''}`,
  )
  if (of_old.secrets + of_old.token_keys > 0) {
    lines.push(
      `of old, under whichever root key there was: secrets ${of_old.secrets}, token keys ${of_old.token_keys}: ` +
        '`rotate-keys` names it',
    )
  }
  return { text: lines.join('\n'), data }
}

function describeTokenKey(made: Awaited<ReturnType<typeof rotateTokenKey>>): Said {
  const text = `token key ${made.kid} signs from ${made.signs_from}; those before it are good for nothing from ${made.others_retire_at}`
  return { text, data: made }
}

/** @throws Error where something is still under another root key */
function describeRotation({ droppable, ...data }: Awaited<ReturnType<typeof rotateRootKey>>): Said {
  const { root_key_id, tenants, rewrapped, removed, resealed, token_keys, needed_beside } = data
  const done = `tenants ${tenants}, data keys wrapped anew ${rewrapped} and removed ${removed}, secrets sealed anew ${resealed}, token keys ${token_keys}`
  if (needed_beside.length > 0) {
    throw new Error(
      `${done}; but something is under ${needed_beside.join(', ')} still: another rotation runs? Run it again`,
    )
  }
  const rest =
    droppable.length === 0
      ? ''
      : `: ${droppable.join(', ')} can be dropped, when the lists under way have been read on, and kept with the backups of before`
  return { text: `${done}. Nothing is left under any root key but ${root_key_id}, the first${rest}`, data }
}
