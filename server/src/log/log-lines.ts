/** Lines wait this long to be written together: one write for each line would be a fifth of the cost of a quick request. */
const batchMs = 10

/** The log's destination: standard output, with the lines of a few milliseconds in one write. */
export const logLines = {
  write(line: string): void {
    if (waiting === '') setTimeout(flush, batchMs)
    waiting += line
  },
}

let waiting = ''

function flush(): void {
  if (waiting === '') return
  const lines = waiting.slice(0, -1)
  waiting = ''
  // Unlike the stream below it, the console survives when its reader is gone.
  console.log(lines)
}

process.on('exit', flush)
