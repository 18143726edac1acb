/** The seconds that a file took when durations were last recorded. */
export type Durations = Readonly<Record<string, number>>

/** Files that one process runs one after another, and their expected seconds. */
export type Batch = { files: readonly string[]; seconds: number }

/**
 * The capacity of a process, in seconds, and as a share of all the run's seconds, whichever is more. More would save two seconds
 * of processor for each process that is not started, in which it loads and optimizes the same code again, and leave a longer wait
 * at the end of the run, when the other processes have ended. Two cores run five at a time: twenty leave the shortest wait.
 */
const fullSeconds = 45
const fullShare = 1 / 20

/** The assumed duration of a file without a record. */
const unknownSeconds = 1

/**
 * Packs the files into as few processes as hold them, since each process loads all modules again; files of one folder
 * together, since they load the same modules; each of `alone` by itself. The longest batch comes first, so that none is left
 * running at the end. The same files are always packed the same way: a failure in a process is reproducible.
 */
export function planBatches(files: readonly string[], durations: Durations, alone: (file: string) => boolean): Batch[] {
  const lonely: Batch[] = []
  const folders = new Map<string, Batch[]>()
  for (const file of files) {
    const batch = { files: [file], seconds: durations[file] ?? unknownSeconds }
    if (alone(file)) lonely.push(batch)
    else folders.set(folderOf(file), [...(folders.get(folderOf(file)) ?? []), batch])
  }
  const seconds = files.reduce((sum, file) => sum + (durations[file] ?? unknownSeconds), 0)
  const capacity = Math.max(fullSeconds, seconds * fullShare)
  const packed = pack(
    [...folders.values()].flatMap((batches) => pack(batches, capacity)),
    capacity,
  )
  return [...lonely, ...packed].sort(longestFirst)
}

/** The folder of a file, such as `server/src/grants`, for a file anywhere below it. */
function folderOf(file: string): string {
  return file.split('/').slice(0, 3).join('/')
}

/** The longest first, each into the first batch with room for it. */
function pack(batches: readonly Batch[], capacity: number): Batch[] {
  const packed: Batch[] = []
  for (const batch of [...batches].sort(longestFirst)) {
    const index = packed.findIndex(({ seconds }) => seconds + batch.seconds <= capacity)
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
