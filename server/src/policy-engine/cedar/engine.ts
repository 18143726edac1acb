/**
 * The only entry point to Cedar (`@cedar-policy/cedar-wasm`).
 *
 * A statement that nests too deeply overruns the stack inside the WebAssembly memory and breaks the instance for every tenant.
 * Instances are therefore disposable: when a call throws anything, the instance is dropped, and the next call gets a new one. A new
 * instance takes about a millisecond, because the module is compiled once. The package's own glue keeps its instance in module
 * scope, where it could be neither replaced nor freed. Here the same glue, unchanged, is evaluated once for each instance.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { compileFunction } from 'node:vm'
import type * as cedarWasm from '@cedar-policy/cedar-wasm/nodejs'

export type {
  ActionConstraint,
  Clause,
  DetailedError,
  EntityJson,
  Expr,
  PolicyJson,
  PrincipalConstraint,
  SchemaJson,
  StatefulAuthorizationCall,
} from '@cedar-policy/cedar-wasm/nodejs'

/** The engine's functions that the policies need. */
export type Cedar = Pick<
  typeof cedarWasm,
  | 'isAuthorized'
  | 'policyToJson'
  | 'policyToText'
  | 'preparsePolicySet'
  | 'preparseSchema'
  | 'schemaToText'
  | 'statefulIsAuthorized'
  | 'validate'
>

/** The engine itself failed (a trap, an exhausted stack). The instance is dropped, and the only safe answer is deny. */
export class EngineFault extends Error {
  constructor(cause: unknown) {
    super(`the policy engine failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'EngineFault'
  }
}

/** A replaceable instance of the engine. */
export type Engine = {
  /** Runs `work` on the instance. Any error drops the instance and is rethrown as an `EngineFault`. */
  use<T>(work: (cedar: Cedar) => T): T
  /** The number of dropped instances; a dropped instance takes its cache with it. */
  faults(): number
  /** Bytes that the current instance holds; 0 before its first use. */
  memoryBytes(): number
}

type Glue = (
  exports: object,
  require: (name: string) => object,
  directory: string,
  webAssembly: object,
  json: Pick<JSON, 'parse' | 'stringify'>,
) => void

/** The part of WebAssembly's types that is needed here; the full types belong to the browser's, which are not loaded. */
type Memory = { buffer: ArrayBuffer }
type WebAssemblyApi = {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { exports: { memory: Memory } }
}
const { WebAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyApi }

type Loaded = { glue: Glue; bytes: Uint8Array; module: object; directory: string }

let loaded: Loaded | undefined

function load(): Loaded {
  if (loaded !== undefined) return loaded
  const path = createRequire(import.meta.url).resolve('@cedar-policy/cedar-wasm/nodejs')
  const directory = dirname(path)
  const parameters = ['exports', 'require', '__dirname', 'WebAssembly', 'JSON']
  const glue = compileFunction(readFileSync(path, 'utf8'), parameters, { filename: path }) as Glue
  const bytes = readFileSync(join(directory, 'cedar_wasm_bg.wasm'))
  loaded = { glue, bytes, module: new WebAssembly.Module(bytes), directory }
  return loaded
}

/** The runtime's lossless number in JSON text; the standard library's types lack it so far. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }
type Reviver = (key: string, value: unknown, context: { source: string }) => unknown

const exactInteger: Reviver = (_key, value, context) =>
  typeof value === 'number' && !Number.isSafeInteger(value) ? rawJSON(context.source) : value

/**
 * Cedar's integers have 64 bits and cross as JSON numbers. Those past 2^53 are kept as their digits, which `JSON.stringify`
 * writes back unchanged; this code does not calculate with them.
 */
export const exactJson = {
  parse(text: string): unknown {
    return /\d{16}/.test(text) ? JSON.parse(text, exactInteger as Parameters<JSON['parse']>[1]) : JSON.parse(text)
  },
  stringify: JSON.stringify,
}

function instantiate(): { cedar: Cedar; memory: Memory } {
  const { glue, bytes, module, directory } = load()
  let memory: Memory | undefined
  const webAssembly = {
    Module: function compiledOnce() {
      return module
    },
    Instance: function keepMemory(_module: object, imports: object) {
      const instance = new WebAssembly.Instance(module, imports)
      memory = instance.exports.memory
      return instance
    },
  }
  const cedar = {}
  glue(cedar, () => ({ readFileSync: () => bytes }), directory, webAssembly, exactJson as typeof JSON)
  if (memory === undefined) throw new Error('the policy engine made no instance')
  return { cedar: cedar as Cedar, memory }
}

/** A separate engine; its first instance is created at its first use. */
export function createEngine(): Engine {
  let instance: ReturnType<typeof instantiate> | undefined
  let faults = 0
  return {
    use(work) {
      instance ??= instantiate()
      try {
        return work(instance.cedar)
      } catch (cause) {
        instance = undefined
        faults += 1
        throw new EngineFault(cause)
      }
    },
    faults: () => faults,
    memoryBytes: () => instance?.memory.buffer.byteLength ?? 0,
  }
}

/** For text from users: the text may break the instance, but no decision is taken there. */
export const textEngine = createEngine()

/** For decisions: receives only rules that the text engine has parsed, validated and run once. */
export const decisionEngine = createEngine()
