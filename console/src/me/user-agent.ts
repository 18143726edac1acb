/** Names in the order in which to look: most browsers also claim to be others. */
const browsers = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/(?:Chrome|CriOS)\//, 'Chrome'],
  [/\bVersion\/\S+ (?:Mobile\/\S+ )?Safari\//, 'Safari'],
] as const

const systems = [
  [/\b(?:iPhone|iPod)\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
] as const

type Named = { program: string; system: string | undefined }

const nameIn = (names: readonly (readonly [RegExp, string])[], text: string) =>
  names.find(([form]) => form.test(text))?.[1]

/** The program that a `User-Agent` names, and its system; undefined without a name. It is what the program says of itself. */
export function readUserAgent(text: string | null): Named | undefined {
  const program = nameIn(browsers, text ?? '') ?? /^(?!Mozilla\b)[\w.-]{1,40}/.exec(text ?? '')?.[0]
  return program === undefined ? undefined : { program, system: nameIn(systems, text ?? '') }
}
