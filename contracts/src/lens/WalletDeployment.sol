// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Deploys a contract wallet as a stranger asks for it (ERC-6492)
/// @notice A factory that a stranger names is called by the constructor of this contract, so that the call comes from a new
/// address without money or rights, never from an account of ours. It is created by the CREATE2 factory of public networks,
/// anew for each wallet, and leaves no code behind.
contract WalletDeployment {
    /// @notice The factory reverted, or the wallet has no code after its call.
    /// @dev Name the factory of the wallet and the call by which it deploys just this one, or deploy the wallet another way.
    /// @param wallet The account that was to become a wallet
    error WalletNotDeployed(address wallet);

    /// @dev A wallet that has code already is left as it is, so that a race with another deployment is no failure.
    /// @param factory The contract that is called
    /// @param data The calldata of that call
    /// @param wallet The account that must have code afterwards
    constructor(address factory, bytes memory data, address wallet) {
        if (wallet.code.length == 0) {
            bool ok;
            // What the factory returns is not copied: it could be long.
            assembly ("memory-safe") {
                ok := call(gas(), factory, 0, add(data, 0x20), mload(data), 0, 0)
            }
            if (!ok || wallet.code.length == 0) revert WalletNotDeployed(wallet);
        }
        assembly ("memory-safe") {
            return(0, 0)
        }
    }
}
