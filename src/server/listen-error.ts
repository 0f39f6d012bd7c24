import type { Config } from '../config.ts';

/** Returns an error that names the setting to change, if the server cannot listen because of HOST or PORT. */
export function listenError(error: NodeJS.ErrnoException, { HOST, PORT }: Config): Error {
  const text = reasonFor(error.code ?? '', HOST, PORT);
  return text === undefined ? error : new Error(text, { cause: error });
}

function reasonFor(code: string, host: string, port: number): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} of ${host} is already in use. Stop the program that uses it, or set PORT to another port.`;
    case 'EACCES':
      return `This user may not listen on port ${port}. Set PORT to another port, such as 8080.`;
    case 'EADDRNOTAVAIL':
      return `${host} is not an address of this machine. Set HOST to one that is, or to 0.0.0.0 for all of them.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The name ${host} has no known address. Set HOST to an address of this machine.`;
    default:
      return undefined;
  }
}
