/** One line of a Dockerfile: `COPY --from=console a b` has the flag `from` and the rest `a b`. */
export type Step = { name: string; flags: Readonly<Record<string, string>>; rest: string }

/** A part of the image that begins with FROM. */
export type Stage = { base: string; name: string | undefined; steps: Step[] }

/** A file system and the state in which the next step finds it. */
export type Built = {
  folder: string
  workdir: string
  env: Record<string, string>
  user: string
  last: Record<string, Step>
}

/** What `try-image` carries out, or has no need of. Another instruction is an error: nothing is passed over unseen. */
const known = [
  ...['FROM', 'ARG', 'ENV', 'WORKDIR', 'COPY', 'RUN', 'USER', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD'],
  ...['VOLUME', 'EXPOSE', 'STOPSIGNAL', 'LABEL'],
]

/** The stages of a Dockerfile as ours is written: comments on lines of their own, `\` at the end of a line that goes on. */
export function readStages(dockerfile: string): Stage[] {
  const lines = dockerfile.split('\n').filter((line) => !/^\s*(?:#|$)/.test(line))
  const whole = lines.join('\n').replaceAll('\\\n', ' ').split('\n')
  const stages: Stage[] = []
  for (const step of whole.map(readStep)) {
    if (!known.includes(step.name)) throw new Error(`\`${step.name}\` of the Dockerfile is not known here`)
    const [base = '', , name] = step.rest.split(' ')
    if (step.name === 'FROM') stages.push({ base, name, steps: [] })
    else stages.at(-1)?.steps.push(step)
  }
  return stages
}

function readStep(line: string): Step {
  const [name = '', ...words] = line.trim().split(/\s+/)
  const flags = words.slice(
    0,
    words.findIndex((word) => !word.startsWith('--')),
  )
  const pairs = flags.map((flag) => flag.slice(2).split('=') as [string, string])
  return { name, flags: Object.fromEntries(pairs), rest: words.slice(flags.length).join(' ') }
}

/** The values of an ENV or an ARG: `A=b C="d e"`. A name without a value has none. */
export function readValues(rest: string): Record<string, string> {
  const pairs = [...rest.matchAll(/(\w+)(?:=(?:"([^"]*)"|(\S*)))?/g)]
  return Object.fromEntries(pairs.map(([, name, quoted, plain]) => [name, quoted ?? plain ?? '']))
}

/** Whether a file of the context is left out by a .dockerignore. The last pattern counts that matches the file or a folder above it. */
export function isIgnored(dockerignore: string, path: string): boolean {
  const parts = path.split('/')
  const above = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
  const patterns = dockerignore.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const last = patterns.findLast((line) => above.some((each) => expressionOf(line.replace(/^!/, '')).test(each)))
  return last !== undefined && !last.startsWith('!')
}

/** As Docker reads a pattern, `*` also matches names that begin with a dot. */
function expressionOf(pattern: string): RegExp {
  const parts = pattern.split('**/').map((part) => part.split('*').map(RegExp.escape).join('[^/]*'))
  return new RegExp(`^${parts.join('(?:.*/)?')}$`)
}
