import { readFileSync } from 'node:fs'
import type { Environment } from './variables.ts'

/** The variables whose value may stand in a file, as orchestrators, compose and systemd hand secrets to a service. */
const secrets = ['DATABASE_URL', 'DATABASE_OWNER_URL', 'SECRET_KEY', 'SMTP_URL', 'OIDC_CLIENT_SECRET'] as const

/**
 * The environment with the content of each file that a `…_FILE` names, without the line's end.
 * @throws Error that names the variable, and never holds the content
 */
export function withSecretFiles(env: Environment): Environment {
  const read = secrets.flatMap((name) => {
    const variable = `${name}_FILE` as const
    const path = env[variable]
    if (!path) return []
    if (env[name]) throw new Error(`${name} and ${variable} are both set; set one of them`)
    return [[name, readSecret(variable, path)] as const]
  })
  return { ...env, ...Object.fromEntries(read) }
}

function readSecret(variable: string, path: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(`${variable} names \`${path}\`, which cannot be read (${code})`)
  }
  if (text === '') throw new Error(`${variable} names \`${path}\`, which is empty`)
  return text
}
