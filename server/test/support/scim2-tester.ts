import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** A Python with what `scim/requirements.txt` names. */
export const python = process.env.SCIM2_TESTER ?? ''
const script = fileURLToPath(new URL('../scim/conformance.py', import.meta.url))

/** Long: it ends a hang, and the machine may be busy. */
const maxWaitMs = 600_000

/** The reason to skip the tests with scim2-tester and scim2-server here; false: they run. */
export const skipScim2Tester = existsSync(python)
  ? false
  : 'SCIM2_TESTER names no Python: make a virtual environment with server/test/scim/requirements.txt'

/** What scim2-tester found of one thing. */
export type Finding = { status: string; title: string; reason: string | null; resource: string | null }

/** Checks a SCIM service from outside. */
export async function runScim2Tester(url: string, key: string): Promise<Finding[]> {
  const options = { timeout: maxWaitMs, maxBuffer: 64 * 1024 * 1024 }
  const { stdout } = await promisify(execFile)(python, [script, url, key], options)
  return JSON.parse(stdout) as Finding[]
}
