// marked 18.2.1, as far as our pages use it: the lexer alone, never its HTML.
export function lexer(text: string, options?: { gfm?: boolean }): any[];
