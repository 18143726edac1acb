import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Operation } from './history.ts'

const folder = fileURLToPath(new URL('../../../node_modules/.cache/histories/', import.meta.url))

/** Keeps a history with what is wrong with it; returns the path. */
export async function keepHistory(history: { seed: number; operations: readonly Operation[] }): Promise<string> {
  await mkdir(folder, { recursive: true })
  const path = join(folder, `${history.seed}.json`)
  await writeFile(path, JSON.stringify(history, undefined, 1))
  return path
}

/** The operations of a kept history. JSON has no infinity: it is null there. */
export async function readHistory(path: string): Promise<Operation[]> {
  const { operations } = JSON.parse(await readFile(path, 'utf8')) as { operations: Operation[] }
  return operations.map((operation) => ({ ...operation, ended: operation.ended ?? Number.POSITIVE_INFINITY }))
}
