import { isDeepStrictEqual } from 'node:util'
import type { SealedPlace, Sealer, Tx } from '../kernel/context.ts'
import { type FaultyField, invalidInput } from '../kernel/errors.ts'
import type { ShownFields } from '../kernel/shown-field.ts'

type Config = Record<string, unknown>

/** The text that replies show in place of a secret. A caller that sends it back keeps the secret. */
export const redacted = '[redacted]'

/** The maximum size of a config as JSON in UTF-8. */
const maxConfigBytes = 64 * 1024
const maxNameLength = 100

/** A config at rest: `config` as it is shown, and its sealed secrets; null when it has none. */
export type KeptConfig = { config: Config; sealed_secrets: string | null }

/** A split config: `config` as it is shown, and the values of the fields that it shows as `[redacted]`. */
export type SplitConfig = { config: Config; secrets: Readonly<Config> }

/**
 * Splits the config that a caller sent to replace `before`. A field is shown when it is listed in `shownFields` and has the
 * listed form. Every other field is a secret as a whole, whatever it contains.
 * @throws Problem 400 for a config or a name that is too long, for `[redacted]` when no secret is kept, and for `[redacted]`
 * beside a change of the secrets' destination: otherwise a caller who may write a config could redirect its secrets to itself
 */
export function splitConfig(sent: Config, shownFields: ShownFields, before: SplitConfig): SplitConfig {
  requireSize(sent)
  const kept = keptNames(sent)
  const faults = Object.entries(sent).flatMap(([name, value]) => faultsOf(name, value, before))
  if (faults.length > 0) throw invalidInput(faults)
  const values = new Map(
    Object.entries(sent).map(([name, value]) => [name, value === redacted ? before.secrets[name] : value]),
  )
  const shows = (name: string, value: unknown) =>
    Object.hasOwn(shownFields, name) && shownFields[name]?.shows(value) === true
  const split = {
    config: Object.fromEntries([...values].map(([name, value]) => [name, shows(name, value) ? value : redacted])),
    secrets: Object.fromEntries([...values].filter(([name, value]) => !shows(name, value))),
  }
  const leading = Object.keys(shownFields).filter((name) => shownFields[name]?.leads)
  const moved = findChanged(leading, split, before)
  if (moved !== undefined && kept.length > 0) throw invalidInput(kept.map((name) => wouldRedirect(name, moved)))
  return split
}

/** The first of these fields whose value changed. */
export function findChanged(names: readonly string[], now: SplitConfig, before: SplitConfig): string | undefined {
  return names.find((name) => !isDeepStrictEqual(fieldOf(now, name), fieldOf(before, name)))
}

/**
 * `splitConfig` for a config at rest. Undefined when nothing changed. A secret that is sent counts as a change even when it
 * equals the kept one: otherwise a caller could guess the secret by trying values until one changed nothing.
 */
export async function replaceConfig(
  { sealer, tx }: { sealer: Sealer; tx: Tx },
  place: SealedPlace,
  sent: Config,
  shownFields: ShownFields,
  kept: KeptConfig = { config: {}, sealed_secrets: null },
): Promise<KeptConfig | undefined> {
  const openSecrets = async (sealed: string) => JSON.parse(await sealer.unseal(tx, sealed, place)) as Config
  const before = {
    config: kept.config,
    secrets: kept.sealed_secrets === null ? {} : await openSecrets(kept.sealed_secrets),
  }
  const { config, secrets } = splitConfig(sent, shownFields, before)
  if (isDeepStrictEqual(sent, kept.config)) return undefined
  const sealed_secrets =
    Object.keys(secrets).length === 0 ? null : await sealer.seal(tx, JSON.stringify(secrets), place)
  return { config, sealed_secrets }
}

function requireSize(sent: Config): void {
  if (Buffer.byteLength(JSON.stringify(sent)) > maxConfigBytes) {
    throw invalidInput([{ pointer: '/config', why: `is larger than ${maxConfigBytes / 1024} KiB as JSON` }])
  }
}

function keptNames(sent: Config): string[] {
  return Object.keys(sent).filter((name) => sent[name] === redacted)
}

function faultsOf(name: string, value: unknown, before: SplitConfig): FaultyField[] {
  if (name.length > maxNameLength) {
    return [{ pointer: '/config', why: `has a name longer than ${maxNameLength} characters` }]
  }
  const pointer = pointerTo(name)
  if (value === redacted) {
    const why = `is \`${redacted}\`, which keeps a secret, and none is kept here: send the secret itself`
    return Object.hasOwn(before.secrets, name) ? [] : [{ pointer, why }]
  }
  const why = `holds \`${redacted}\` inside, which keeps a field only as a whole: send all of it, or \`${redacted}\` alone`
  return holdsRedacted(value) ? [{ pointer, why }] : []
}

function wouldRedirect(name: string, moved: string): FaultyField {
  const why = `is \`${redacted}\`, and a changed \`${moved}\` would send the kept secret elsewhere: send the secret itself`
  return { pointer: pointerTo(name), why }
}

function holdsRedacted(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === redacted
  return Object.values(value).some(holdsRedacted)
}

function fieldOf({ config, secrets }: SplitConfig, name: string): unknown {
  const place = Object.hasOwn(secrets, name) ? secrets : config
  return Object.hasOwn(place, name) ? place[name] : undefined
}

function pointerTo(name: string): string {
  return `/config/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
