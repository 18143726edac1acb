/** One sample line: the metric's name as written, its labels, its value. */
export type Sample = { name: string; labels: Record<string, string>; value: number }

/** A metric as announced, with its samples. */
export type Family = { kind: string; help: string; samples: Sample[] }

const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/gy

/**
 * Reads Prometheus' text format 0.0.4 strictly: throws on an invalid line, a sample without an announcement, and a metric or
 * sample given twice.
 */
export function readExposition(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const families = new Map<string, Family>()
  const seen = new Set<string>()
  for (const line of text.split('\n')) {
    if (line === '') continue
    const announced = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line)
    if (announced !== null) {
      const [, what, name = '', rest = ''] = announced
      if (what === 'HELP' && families.has(name)) throw new Error(`${name} is announced twice`)
      const family = families.get(name) ?? { kind: '', help: '', samples: [] }
      families.set(name, what === 'HELP' ? { ...family, help: rest } : { ...family, kind: rest })
      continue
    }
    const sample = readSample(line)
    const family = families.get(sample.name) ?? families.get(sample.name.replace(/_(bucket|sum|count)$/, ''))
    if (family === undefined || family.kind === '') throw new Error(`not announced: \`${line}\``)
    const key = line.slice(0, line.lastIndexOf(' '))
    if (seen.has(key)) throw new Error(`\`${key}\` is there twice`)
    seen.add(key)
    family.samples.push(sample)
  }
  return families
}

function readSample(line: string): Sample {
  const [, name = '', inside = '', number = ''] = sampleLine.exec(line) ?? []
  const labels: Record<string, string> = {}
  let end = 0
  for (const match of inside.matchAll(label)) {
    labels[match[1] ?? ''] = match[2] ?? ''
    end = match.index + match[0].length
  }
  const value = Number(number === '+Inf' ? Number.POSITIVE_INFINITY : number)
  if (name === '' || end !== inside.length || (Number.isNaN(value) && number.toLowerCase() !== 'nan')) {
    throw new Error(`\`${line}\` is no line of the format`)
  }
  return { name, labels, value }
}
