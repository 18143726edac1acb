/**
 * Where the log goes: standard output, the lines of one turn of the event loop in one write. A write for each line was a
 * fifth of what a quick request costs.
 */
export const logLines = {
  write(line: string): void {
    if (waiting === '') setImmediate(flush)
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
