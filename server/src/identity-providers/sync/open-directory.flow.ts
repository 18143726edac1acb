import { hasLiveKeyOfProvider } from '../../api-keys/api-key-store.ts'
import type { Egress, Sealer, Tx } from '../../kernel/context.ts'
import { type FaultyField, Problem } from '../../kernel/errors.ts'
import { readUuid } from '../../kernel/id.ts'
import { discreetly } from '../../provisioners/discreet-driver.ts'
import { type Config, TargetError } from '../../provisioners/driver.ts'
import type { Drivers, DriverTypes } from '../../provisioners/drivers.ts'
import { noSecrets } from '../../provisioners/provisioner-secrets.ts'
import { findProvisionerToOpen, type ProvisionerToOpen } from '../../provisioners/provisioner-store.ts'
import { fieldsToFind } from '../../provisioners/set-up.ts'
import type { ReadDirectory } from '../../provisioners/target-directory.ts'
import type { KeptConfig } from '../../secrets/sealed-config.ts'
import { placeOfSecrets } from '../identity-provider-store.ts'
import type { Protocol } from '../protocol.ts'
import type { SourceType } from '../sources/source.ts'
import { findSettingsFaults } from '../sync-settings.ts'

/** The protocols whose connection the config of an identity provider says. */
export type SourceTypes = Readonly<Record<Exclude<Protocol, 'identity_center'>, SourceType>>

/** What a directory is opened with. */
export type SourceParts = { sealer: Sealer; egress: Egress; sources: SourceTypes; types: DriverTypes }

/** A provider whose directory is read. */
export type ProviderToRead = KeptConfig & { id: string; protocol: Protocol }

/** Two who write the same users would undo each other's changes. @throws Problem 422 where the directory may push, too */
export async function requireNoScimKey(tx: Tx, identity_provider_id: string): Promise<void> {
  if (!(await hasLiveKeyOfProvider(tx, identity_provider_id))) return
  const message = 'the identity provider has a SCIM key, by which its directory pushes: revoke the key, then sync again'
  throw new Problem('unprocessable', message)
}

/**
 * Nobody vouched for a config from before directories were read: who could write one did not need the rights that it takes now.
 * @throws Problem 422
 */
export function requireConfigured({ configured_by }: { configured_by: string | null }): void {
  if (configured_by !== null) return
  const message =
    'the config was written before directories were read: send it again, for example with a new `sync_interval_minutes`'
  throw new Problem('unprocessable', message)
}

/** Why the directory of a provider cannot be read yet, by the field of the config. It calls nobody outside. */
export async function findSourceFaults(parts: SourceParts, tx: Tx, provider: ProviderToRead): Promise<FaultyField[]> {
  return faultsOf(parts, tx, provider, (await unsealed(parts, tx, provider)).config)
}

async function faultsOf(parts: SourceParts, tx: Tx, provider: ProviderToRead, config: Config): Promise<FaultyField[]> {
  const shared = findSettingsFaults(config)
  if (provider.protocol === 'identity_center') return [...shared, ...(await findCenterFaults(parts, tx, provider))]
  return [...shared, ...(await parts.sources[provider.protocol].findFaults(config, parts.egress))]
}

/**
 * The reader of a provider's directory. INVARIANT: its errors contain none of the secrets of the config.
 * @throws TargetError permanent for a config with faults
 */
export async function openDirectory(
  parts: SourceParts & { drivers: Drivers },
  tx: Tx,
  provider: ProviderToRead,
): Promise<ReadDirectory> {
  const { config, given } = await unsealed(parts, tx, provider)
  const [fault] = await faultsOf(parts, tx, provider, config)
  if (fault !== undefined) throw new TargetError('permanent', `\`${fault.pointer}\` ${fault.why}`)
  if (provider.protocol === 'identity_center') return openCenter(parts, tx, provider)
  const read = parts.sources[provider.protocol].open(config, parts.egress)
  return (what, signal) => discreetly(read(what, signal), { ...noSecrets, given })
}

/** The config with its secrets, and the secrets alone. */
async function unsealed({ sealer }: SourceParts, tx: Tx, { id, config, sealed_secrets }: ProviderToRead) {
  const opened = sealed_secrets === null ? '{}' : await sealer.unseal(tx, sealed_secrets, placeOfSecrets(id))
  const given = JSON.parse(opened) as Record<string, unknown>
  return { config: { ...config, ...given } as Config, given }
}

const centerType = 'aws-identity-center'

/** The provisioner by whose connection the directory is read; undefined where the config names none that has one. */
async function findCenter(
  tx: Tx,
  { config }: ProviderToRead,
): Promise<(ProvisionerToOpen & { id: string }) | undefined> {
  const { provisioner_id } = config
  const id = typeof provisioner_id === 'string' ? readUuid(provisioner_id) : undefined
  const found = id === undefined ? undefined : await findProvisionerToOpen(tx, id)
  return id !== undefined && found?.provisioner_type === centerType ? { ...found, id } : undefined
}

/**
 * INVARIANT: the config names the identity store, and the connection of the provisioner leads to it. Who may change provisioners could
 * else have another directory read, and choose who is a user here: AWS gives each store its id.
 */
async function findCenterFaults({ types }: SourceParts, tx: Tx, provider: ProviderToRead): Promise<FaultyField[]> {
  const center = await findCenter(tx, provider)
  if (center === undefined) {
    const why = `must be the id of a provisioner of the type \`${centerType}\`, by whose connection the directory is read`
    return [{ pointer: '/config/provisioner_id', why }]
  }
  if (fieldsToFind(types[centerType], center.config).length > 0) {
    return [{ pointer: '/config/provisioner_id', why: 'names a provisioner that was not tested yet: test it first' }]
  }
  const { identity_store_id } = center.config
  if (provider.config.identity_store_id === identity_store_id) return []
  const why = `must be \`${identity_store_id}\`, the identity store to which the provisioner leads`
  return [{ pointer: '/config/identity_store_id', why }]
}

async function openCenter({ drivers }: { drivers: Drivers }, tx: Tx, provider: ProviderToRead): Promise<ReadDirectory> {
  const center = await findCenter(tx, provider)
  if (center === undefined) throw gone()
  const { id, version } = center
  const driver = await drivers.of(tx, { provisioner: centerType, provisioner_id: id, provisioner_version: version })
  const { readDirectory } = driver
  if (readDirectory === null) throw new Error('the driver reads no directory')
  return async function* readStore(what, signal) {
    yield* readDirectory(what, signal)
    // What was read may be of another store by now.
    if ((await findCenter(tx, provider))?.version !== version) throw gone()
  }
}

const gone = () => new TargetError('transient', 'the provisioner by which the directory is read was changed meanwhile')
