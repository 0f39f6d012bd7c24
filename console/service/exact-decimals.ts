const TEXT_OR_DECIMAL = /"(?:[^"\\]|\\.)*"|-?\d+\.\d+/g;

/** Returns the JSON with its decimal numbers as text, so that no amount passes through binary floating point. */
export const exactDecimals = (json: string): string =>
  json.replace(TEXT_OR_DECIMAL, (token) => (token.startsWith('"') ? token : `"${token}"`));
