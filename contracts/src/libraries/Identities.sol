// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IIdentityRegistry} from "../interfaces/IIdentityRegistry.sol";

/// @title Who stands behind an identity
library Identities {
    /// @notice The owner of an identity, or zero when there is no such identity.
    function findOwner(IIdentityRegistry registry, uint256 agentId) internal view returns (address) {
        try registry.ownerOf(agentId) returns (address owner) {
            return owner;
        } catch {
            return address(0);
        }
    }

    /// @notice Where an identity is paid: its agent wallet, else its owner, else (no such identity) zero.
    function findPayee(IIdentityRegistry registry, uint256 agentId) internal view returns (address payee) {
        payee = registry.getAgentWallet(agentId);
        if (payee == address(0)) payee = findOwner(registry, agentId);
    }
}
