// Resolves imports from the cache folder, where the packages are.
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

const packages = pathToFileURL(process.env.TERRARIUM_NODE_MODULES).href;
const here = pathToFileURL(process.env.TERRARIUM_NODE_TESTS).href;

registerHooks({
  resolve(specifier, context, next) {
    const isPackage = !/^(\.|\/|node:|file:)/.test(specifier);
    return next(
      specifier,
      isPackage && context.parentURL?.startsWith(here) ? { ...context, parentURL: packages } : context,
    );
  },
});
