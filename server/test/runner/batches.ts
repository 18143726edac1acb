/** Seconds that a file took when durations were last recorded. */
export type Durations = Readonly<Record<string, number>>

/** Files that one process runs one after another, and the seconds they are expected to take. */
export type Batch = { files: readonly string[]; seconds: number }

/** What a process is filled up to: with what is beside it on the machine it ends within 30 s. */
const fullSeconds = 25

/** What a file is taken to need of which nothing is known. */
const unknownSeconds = 1

/**
 * Packs the files into processes: as few as hold them, since each loads all modules again; files of one folder together, which
 * load the same ones; each of `alone` by itself. The longest batch comes first, so that none is left running at the end. The
 * same files are packed the same way each time: what failed in a process fails again in it.
 */
export function planBatches(files: readonly string[], durations: Durations, alone: (file: string) => boolean): Batch[] {
  const lonely: Batch[] = []
  const folders = new Map<string, Batch[]>()
  for (const file of files) {
    const batch = { files: [file], seconds: durations[file] ?? unknownSeconds }
    if (alone(file)) lonely.push(batch)
    else folders.set(folderOf(file), [...(folders.get(folderOf(file)) ?? []), batch])
  }
  const packed = pack([...folders.values()].flatMap(pack))
  return [...lonely, ...packed].sort(longestFirst)
}

/** `server/src/grants` of a file anywhere below it. */
function folderOf(file: string): string {
  return file.split('/').slice(0, 3).join('/')
}

/** The longest first, each into the first that has room for it. */
function pack(batches: readonly Batch[]): Batch[] {
  const packed: Batch[] = []
  for (const batch of [...batches].sort(longestFirst)) {
    const index = packed.findIndex(({ seconds }) => seconds + batch.seconds <= fullSeconds)
    const open = packed[index] ?? { files: [], seconds: 0 }
    const filled = { files: [...open.files, ...batch.files], seconds: open.seconds + batch.seconds }
    packed.splice(index < 0 ? packed.length : index, 1, filled)
  }
  return packed
}

function longestFirst(a: Batch, b: Batch): number {
  const [first = '', second = ''] = [a.files[0], b.files[0]]
  return b.seconds - a.seconds || (first < second ? -1 : 1)
}
