// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC721Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {IdentityRegistry} from "../../src/IdentityRegistry.sol";
import {MarketTest} from "../base/MarketTest.sol";

contract MetadataTest is MarketTest {
    function test_succeeds_whenTheOwnerSetsMetadata() public {
        vm.expectEmit(address(identities));
        emit IdentityRegistry.MetadataSet(buyerAgentId, "model", "model", "a");
        vm.prank(buyer.addr);
        identities.setMetadata(buyerAgentId, "model", "a");
        assertEq(identities.getMetadata(buyerAgentId, "model"), "a");
    }

    function test_succeeds_whenAnOperatorActs() public {
        assertFalse(identities.isAuthorizedOrOwner(stranger, buyerAgentId));
        vm.prank(buyer.addr);
        identities.approve(stranger, buyerAgentId);
        assertTrue(identities.isAuthorizedOrOwner(stranger, buyerAgentId));
        assertTrue(identities.isAuthorizedOrOwner(buyer.addr, buyerAgentId));
        vm.prank(stranger);
        identities.setMetadata(buyerAgentId, "model", "a");
    }

    function test_succeeds_whenTheURIMoves() public {
        vm.expectEmit(address(identities));
        emit IdentityRegistry.URIUpdated(buyerAgentId, "ipfs://moved", buyer.addr);
        vm.prank(buyer.addr);
        identities.setAgentURI(buyerAgentId, "ipfs://moved");
        assertEq(identities.tokenURI(buyerAgentId), "ipfs://moved");
    }

    function test_succeeds_whenTheWalletIsReadAsMetadata() public {
        assertEq(identities.getMetadata(buyerAgentId, "agentWallet"), abi.encodePacked(buyer.addr));
        vm.prank(buyer.addr);
        identities.unsetAgentWallet(buyerAgentId);
        assertEq(identities.getMetadata(buyerAgentId, "agentWallet"), "");
    }

    function test_reverts_whenTheWalletIsWrittenAsMetadata() public {
        vm.expectRevert(revertString("reserved key"));
        vm.prank(buyer.addr);
        identities.setMetadata(buyerAgentId, "agentWallet", abi.encodePacked(stranger));
    }

    function test_reverts_whenAStrangerCalls() public {
        vm.startPrank(stranger);
        vm.expectRevert(revertString("Not authorized"));
        identities.setMetadata(buyerAgentId, "model", "a");
        vm.expectRevert(revertString("Not authorized"));
        identities.setAgentURI(buyerAgentId, "");
        vm.expectRevert(revertString("Not authorized"));
        identities.unsetAgentWallet(buyerAgentId);
        vm.stopPrank();
    }

    function test_reverts_whenThereIsNoSuchIdentity() public {
        bytes memory nonexistent = abi.encodeWithSelector(IERC721Errors.ERC721NonexistentToken.selector, 404);
        vm.expectRevert(nonexistent);
        identities.isAuthorizedOrOwner(stranger, 404);
        vm.expectRevert(nonexistent);
        identities.setMetadata(404, "model", "a");
        assertEq(identities.getAgentWallet(404), address(0));
    }
}
