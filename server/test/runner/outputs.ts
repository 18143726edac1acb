import type { ChildProcess } from 'node:child_process'

/** Written to both outputs of a process at the end of each test file: the output before it belongs to that file. */
export const endOfFile = '\0end of a test file\0'

/** The outputs of a process, file by file. */
export type Outputs = {
  /** The output up to the next end of a file; undefined if that has not arrived. */
  take(): string | undefined
  /** The rest of the output. */
  rest(): string
}

/** Reads both outputs of a process. `onMore`: called after each read. */
export function readOutputs({ stdout, stderr }: ChildProcess, onMore: () => void): Outputs {
  let texts = ['', '']
  for (const [index, stream] of [stdout, stderr].entries()) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      texts[index] += text
      onMore()
    })
  }
  return {
    take() {
      const ends = texts.map((text) => text.indexOf(endOfFile))
      if (ends.includes(-1)) return undefined
      const written = texts.map((text, index) => text.slice(0, ends[index]))
      texts = texts.map((text, index) => text.slice((ends[index] ?? 0) + endOfFile.length))
      return written.join('')
    },
    rest() {
      const written = texts.join('').replaceAll(endOfFile, '')
      texts = ['', '']
      return written
    },
  }
}
