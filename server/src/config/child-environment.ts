/** What a program needs to find its tools and its temporary folder. */
const harmless = ['PATH', 'HOME', 'TMPDIR', 'SystemRoot', 'windir', 'TEMP', 'TMP']

/** The environment of a program that the service starts: without secrets, and without variables that could change what it does. */
export function childEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const kept = harmless.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]))
  return Object.fromEntries(kept)
}
