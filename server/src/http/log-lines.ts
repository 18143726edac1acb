/** Lines wait this long for others: a write for each line is a fifth of what a quick request costs. */
const gatherMs = 10

/** Where the log goes: standard output, the lines of a few milliseconds in one write. */
export const logLines = {
  write(line: string): void {
    if (waiting === '') setTimeout(flush, gatherMs)
    waiting += line
  },
}

let waiting = ''

function flush(): void {
  if (waiting === '') return
  const lines = waiting.slice(0, -1)
  waiting = ''
  // Unlike the stream below it, the console lives on when nobody reads any more.
  console.log(lines)
}

process.on('exit', flush)
