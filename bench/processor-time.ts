import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts processor time in hundredths of a second, whatever the kernel's own tick. */
const msPerTick = 10

type Times = { parent: number; own: number; ofEnded: number }

/** The processor time of a process, of its children, and of the children that have ended, in milliseconds; undefined where there is no /proc. */
export function processorMs(pid: number): number | undefined {
  const root = timesOf(pid)
  if (root === undefined) return undefined
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => timesOf(Number(name)))
    .filter((times) => times?.parent === pid)
  const ticks = children.reduce((total, times) => total + (times?.own ?? 0), root.own + root.ofEnded)
  return ticks * msPerTick
}

function timesOf(pid: number): Times | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program, in parentheses, may hold spaces.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [own, ofEnded] = [(fields[11] ?? 0) + (fields[12] ?? 0), (fields[13] ?? 0) + (fields[14] ?? 0)]
    return { parent: fields[1] ?? 0, own, ofEnded }
  } catch {
    return undefined
  }
}

/** The most memory that a process has had, in MB. */
export function peakMb(pid: number): number | undefined {
  try {
    const kb = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kb === undefined ? undefined : Math.round(Number(kb) / 1024)
  } catch {
    return undefined
  }
}
